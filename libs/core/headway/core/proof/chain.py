"""Slots that finished runs bring: each follows the end of the run before it, or the decision that made no run."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from headway.core.proof.ledger import After, Checked, Era, Finding, Kind, Single, Span
from headway.core.schedule.chain import first_slot, following_finish
from headway.core.schedule.kinds import AfterCompletion

Link = Single | Span
_TICK: Final = timedelta(microseconds=1)
_COMMIT: Final = timedelta(seconds=1)
"""An edit may not have seen an end that was stamped less than this before it."""


class _Due(NamedTuple):
    """The instant at which the next slot is due, None for never; not `known` when what it follows was forgotten."""

    at: datetime | None
    known: bool = True
    why: str = ""


class Before(NamedTuple):
    """The decisions before a look, back to one with a run, and whether the version before the era brought slots forth by runs, too."""

    links: Sequence[Link]
    chained: bool


def check(era: Era, before: Before, links: Sequence[Link], after: datetime, until: datetime) -> Checked:
    """Say what is wrong with the decisions in (after, until] of an era, which come in order and once each.

    Whether a run was open when the era began is told by the instants of both: a clock that was stepped back between them may be
    taken for a fault.
    """
    rule = era.rule
    assert isinstance(rule, AfterCompletion), "asked of chains alone"
    walker = _Walk(rule, era, before)
    findings = [finding for link in links for finding in walker.step(link)]
    findings += walker.end(until, after)
    missing = sum(1 for finding in findings if finding.kind is Kind.MISSING)
    return Checked(findings, len(links) + missing, walker.forgotten)


class _Walk:
    """Goes along a chain from decision to decision."""

    def __init__(self, rule: AfterCompletion, era: Era, before: Before) -> None:
        self.rule = rule
        self.era = era
        self.forgotten = 0
        self.last = before.links[-1] if before.links else None
        self.fired = next((link for link in reversed(before.links) if _has_run(link)), None)
        self.begins = self.last is None or at_of(self.last) <= era.after
        # The run of a slot that the clock brought owes the chain nothing: the chain begins when somebody finds it still.
        self.still = self.begins and self.last is not None and not before.chained and not self._idle()
        self.fresh = first_slot(rule, era.after) if self.begins and not self.still else None

    def step(self, link: Link) -> Iterator[Finding]:
        """Look at one decision and go on from it."""
        due = _Due(None) if self.begins and self._idle(_COMMIT) else self._due()
        accepted = [at for at in (self.fresh, due.at) if at is not None]
        if not due.known and not any(_is_at(link, at) for at in accepted):
            self.forgotten += 1
        elif not any(_is_at(link, at) for at in accepted):
            yield Finding(Kind.OUT_OF_CHAIN, at_of(link), _words(accepted, due))
        self.last, self.fired = link, link if _has_run(link) else self.fired
        self.fresh, self.begins, self.still = None, False, False

    def end(self, until: datetime, after: datetime) -> Iterator[Finding]:
        """Name the slot that should have come by then."""
        at = self.fresh if self.begins and self._idle() else self._due().at
        if at is not None and after < at <= until:
            yield Finding(Kind.MISSING, at, "has no decision")

    def _idle(self, margin: timedelta = timedelta()) -> bool:
        """Whether no run of the chain was open when the version began, nor a margin before that."""
        if not isinstance(self.fired, Single):
            return True
        return self.fired.finished_at is not None and self.fired.finished_at + margin <= self.era.after

    def _due(self) -> _Due:
        if self.last is None or self.still:
            return _Due(None, known=not self.still)
        if isinstance(self.last, Span) or self.last.leads is After.DECISION:
            return self._following(self.last.decided_at, "the decision that it follows")
        if not isinstance(self.fired, Single) or not self.fired.kept:
            return _Due(None, known=False)
        if self.fired.finished_at is None:
            return _Due(None, why=f"the run of slot {self.fired.slot_at.isoformat()} has not ended")
        return self._following(self.fired.finished_at, f"the end of the run of slot {self.fired.slot_at.isoformat()}")

    def _following(self, finished_at: datetime | None, what: str) -> _Due:
        """No slot lies in time that is decided."""
        if finished_at is None:
            return _Due(None, known=False)
        at = following_finish(self.rule, finished_at)
        decided = max(one for one in (self.era.after, self.last and self.last.decided_at) if one is not None)
        return _Due(None if at is None else max(at, decided + _TICK), why=f"{what} was at {finished_at.isoformat()}")


def merged(singles: Iterable[Single], spans: Iterable[Span]) -> list[Link]:
    """Return decisions of both kinds in their order."""
    return sorted([*singles, *spans], key=at_of)


def at_of(link: Link) -> datetime:
    """Return the instant up to which a decision reaches."""
    return link.slot_at if isinstance(link, Single) else link.until


def _has_run(link: Link) -> bool:
    return isinstance(link, Single) and link.leads is After.FINISH


def _is_at(link: Link, at: datetime) -> bool:
    return link.slot_at == at if isinstance(link, Single) else link.after < at <= link.until


def _words(accepted: Sequence[datetime], due: _Due) -> str:
    if not accepted:
        return f"is decided, and nothing brought it forth: {due.why}" if due.why else "is decided, and nothing brought it forth"
    return f"is decided, and {' or '.join(at.isoformat() for at in accepted)} was due" + (f": {due.why}" if due.why else "")
