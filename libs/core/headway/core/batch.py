"""A batch: a parent run that ends by its children.  Pure: what is made of their ends, and when the parent may end."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import UUID

from headway.core.ask import QUIET, Ask, Origin, problems_of
from headway.core.errors import Problem
from headway.core.outcome import FAILURES, SUCCESSES, Cancelled, Failure, Outcome, PartialSuccess, RunOutcome, SafeError, Skipped, Success
from headway.core.run import Cause, Open, Settlement, State, settle

MOST_CHILDREN: Final = 10_000
MOST_CONCURRENT: Final = 1_000_000
Counts = Mapping[RunOutcome, int]
# Worst first; outcomes of one line weigh the same, and the first of them that is there names the whole.
WORST_FIRST: Final = (
    (RunOutcome.FAILURE, RunOutcome.TIMEOUT, RunOutcome.CRASHED),
    (RunOutcome.CANCELLED, RunOutcome.SKIPPED),
    (RunOutcome.PARTIAL_SUCCESS,),
    (RunOutcome.SUCCESS_WITH_WARNINGS,),
    (RunOutcome.SUCCESS,),
)


class Mixed(StrEnum):
    """What a batch is of which some children succeeded and some failed: the worst of them, or a partial success."""

    WORST = "worst"
    PARTIAL = "partial"


class Opener(NamedTuple):
    """The attempt whose handler opened a batch: when it has ended, however it ended, the batch is closed."""

    run: UUID
    attempt: int


@dataclass(frozen=True, slots=True)
class BatchAsk:
    """A batch that somebody wants: a parent, which never runs a handler, and its first children.

    `closed` takes no children later.  At most `max_concurrent` children are let in at a time, 0 is no limit.  `counted` children of the
    parent's own definition count against that definition's limit of concurrent runs.  With `triggers` the end of a child fires triggers.
    """

    parent: Ask
    children: Sequence[Ask] = ()
    closed: bool = True
    max_concurrent: int = 0
    mixed: Mixed = Mixed.WORST
    counted: bool = False
    triggers: bool = False
    opener: Opener | None = None


def batch_problems(wanted: BatchAsk) -> Iterator[Problem]:
    """Yield everything that is wrong with a batch: its own fields, its parent's, and its children's by their index."""
    if not 0 <= wanted.max_concurrent <= MOST_CONCURRENT:
        yield Problem("max_concurrent", f"must be a whole number from 0 to {MOST_CONCURRENT}")
    if wanted.closed and not wanted.children:
        yield Problem("children", "must be at least one, unless the batch is open")
    yield from problems_of(wanted.parent)
    yield from children_problems(wanted.children)


def children_problems(children: Sequence[Ask]) -> Iterator[Problem]:
    """Yield everything that is wrong with children, by their index in the list."""
    if len(children) > MOST_CHILDREN:
        yield Problem("children", f"must be at most {MOST_CHILDREN} at a time: open the batch and append the others")
    for index, child in enumerate(children):
        yield from (Problem(f"children[{index}].{one.field}", one.message) for one in problems_of(child))
        if child.key is not None:
            yield Problem(f"children[{index}].key", "cannot be given: a child is known by its index")


def parent_ask(wanted: Ask) -> Ask:
    """Return the ask for a parent: held until its children have ended, and due at once."""
    return wanted._replace(cause=Cause.CHILDREN, at=None, delay=None)


class Parentage(NamedTuple):
    """What children take from their parent and its batch; with `waits` they are held for their turn."""

    parent: UUID
    definition: str
    tenant: str
    priority: int | None
    correlation: str | None
    counted: bool
    triggers: bool
    waits: bool


def children_of(batch: Parentage, wanted: Sequence[Ask], first: int, owes: int) -> list[Ask]:
    """Return the asks for children whose first one has the index `first`; their ends owe `owes`, and trigger nothing unless asked to."""
    return [
        child._replace(
            tenant=batch.tenant,
            priority=batch.priority if child.priority is None else child.priority,
            correlation=child.correlation or batch.correlation,
            origin=Origin.CHILD,
            parent=batch.parent,
            owes=owes if batch.triggers else owes | QUIET,
            cause=Cause.BATCH if batch.waits else Cause.NONE,
            batch_index=index,
            counted=batch.counted or child.definition != batch.definition,
        )
        for index, child in enumerate(wanted, first)
    ]


def percent(done: int, total: int) -> int:
    """Return how much of a batch is done, of nothing as much as of something that has not begun: 0."""
    return round(100 * done / total) if total else 0


def told(done: int, total: int) -> str:
    """Return the progress of a batch in words."""
    return f"{done}/{total} children complete"


def room(max_concurrent: int, let_in: int, waiting: int) -> int:
    """Return how many of the children that wait may be let in beside those that were and have not ended."""
    return waiting if max_concurrent == 0 else max(0, min(waiting, max_concurrent - let_in))


def aggregate(counts: Counts, mixed: Mixed = Mixed.WORST) -> RunOutcome:
    """Return the outcome of children together: that of the worst, or what `mixed` says; Success of none at all."""
    there = {outcome for outcome, count in counts.items() if count}
    if mixed is Mixed.PARTIAL and there & SUCCESSES and there & FAILURES:
        return RunOutcome.PARTIAL_SUCCESS
    if there & FAILURES:
        return RunOutcome.FAILURE
    return next((outcome for line in WORST_FIRST for outcome in line if outcome in there), RunOutcome.SUCCESS)


def result_of(counts: Counts) -> dict[str, Any]:
    """Return the result of a parent: how many children there were, and how many ended in which way."""
    there = {outcome.name.lower(): counts[outcome] for outcome in RunOutcome if counts.get(outcome)}
    return {"total": sum(there.values()), "outcomes": there}


def conclude(parent: Open, counts: Counts, mixed: Mixed, now: datetime) -> Settlement:
    """Decide the end of a parent, all of whose children have ended, with their counts as its result.

    As with any run, a cancel wish leaves a success succeeded and makes everything else cancelled.
    """
    why = _said(counts)
    settlement = settle(parent, _outcome(aggregate(counts, mixed), why), now)
    reason = settlement.reason if settlement.state is not State.FAILED else why
    return replace(settlement, result=result_of(counts), reason=reason)


def _outcome(outcome: RunOutcome, why: str) -> Outcome:
    match outcome:
        case RunOutcome.SUCCESS:
            return Success()
        case RunOutcome.SUCCESS_WITH_WARNINGS:
            return Success(warnings=(why,))
        case RunOutcome.PARTIAL_SUCCESS:
            return PartialSuccess(warnings=(why,))
        case RunOutcome.CANCELLED:
            return Cancelled(why)
        case RunOutcome.SKIPPED:
            return Skipped(why)
        case _:
            return Failure(SafeError("ChildrenFailed", why), permanent=True)


def _said(counts: Counts) -> str:
    """Say which of the children did not simply succeed, the worst first."""
    worse = [outcome for line in WORST_FIRST for outcome in line if counts.get(outcome) and outcome is not RunOutcome.SUCCESS]
    total = sum(counts.values())
    return f"of {total} children " + ", ".join(f"{counts[one]} {one.name.lower().replace('_', ' ')}" for one in worse)
