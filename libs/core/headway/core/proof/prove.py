"""The proof: every expected slot of a period has one decision, and nothing else has any."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain as chained
from itertools import pairwise
from typing import Final, NamedTuple

from headway.core.proof import chain, clock
from headway.core.proof.ledger import MOST_FINDINGS, Checked, Era, Finding, Kind, Proof, Single, Span
from headway.core.schedule.evaluate import count

_DAY: Final = timedelta(days=1)


class _Ledger(NamedTuple):
    """Decisions in order: single ones once each, `free` those in no range, and the ranges with what they cover together."""

    free: list[Single]
    spans: list[Span]
    covered: list[tuple[datetime, datetime]]


def prove(eras: Sequence[Era], singles: Sequence[Single], spans: Sequence[Span], after: datetime, until: datetime) -> Proof:
    """Decide what holds of the slots in (after, until].

    `eras` are the schedule's versions in order, up to the instant until which it is decided; `singles` and `spans` all decisions
    that touch the period, for chains also those before it back to one with a run.  What lies behind the last era is not looked at.
    """
    begin, end = _known(eras, after, until)
    if begin >= end:
        return Proof(begin, begin, 0, 0, 0, 0, [], 0, [], [*_unknown(eras, after)])
    ordered, wrong = sorted(singles, key=lambda one: one.slot_at), list[Finding]()
    wrong += _repeated([one for one in ordered if begin < one.slot_at <= end])
    ledger = _sorted_out(ordered, sorted(spans, key=lambda span: (span.after, span.until)), wrong)
    looks = zip([None, *eras], eras, strict=False)
    checks = [_check(before, era, ledger, begin, end) for before, era in looks if era.after < end and era.until > begin]
    wrong += _outside(eras, ledger.free, begin, end)
    touching = [span for span in ledger.spans if span.until > begin and span.after < end]
    wrong += [finding for span in touching for finding in _miscounted(eras, span)]
    wrong += [finding for one in checks for finding in one.findings]
    findings, differences = _apart(sorted(set(wrong), key=lambda finding: (finding.at, finding.kind.value)))
    inside = [one for one in ordered if begin < one.slot_at <= end]
    ending = [span for span in touching if begin < span.until <= end]
    return Proof(
        begin,
        end,
        sum(one.expected for one in checks),
        len(inside),
        len(ending),
        sum(span.slots or 0 for span in ending),
        findings[:MOST_FINDINGS],
        len(findings),
        differences[:MOST_FINDINGS],
        [*_unknown(eras, after), *_forgotten(checks), *_other_zone_data(inside, touching)],
    )


def _known(eras: Sequence[Era], after: datetime, until: datetime) -> tuple[datetime, datetime]:
    """The part of a period of which it is known what was expected: before the first version that is, nothing was."""
    if not eras:
        return after, after
    begin = after if eras[0].version == 1 else max(after, eras[0].after)
    return begin, max(begin, min(until, eras[-1].until))


def _unknown(eras: Sequence[Era], after: datetime) -> Iterator[str]:
    if not eras:
        yield "no version of the schedule is on record: nothing says what was expected"
    elif eras[0].version > 1 and after < eras[0].after:
        yield f"no version of the schedule before {eras[0].after.isoformat()} is on record: that time is left out"


def _repeated(ordered: Sequence[Single]) -> Iterator[Finding]:
    for one, other in pairwise(ordered):
        if one.slot_at == other.slot_at:
            yield Finding(Kind.DOUBLED, one.slot_at, "is decided more than once")


def _sorted_out(ordered: Sequence[Single], spans: list[Span], wrong: list[Finding]) -> _Ledger:
    covered: list[tuple[datetime, datetime]] = []
    for span in spans:
        if covered and span.after < covered[-1][1]:
            wrong.append(Finding(Kind.OVERLAPPING, span.after, f"a range that begins here overlaps one up to {covered[-1][1].isoformat()}"))
            covered[-1] = (covered[-1][0], max(covered[-1][1], span.until))
        else:
            covered.append((span.after, span.until))
    free = []
    for one in {one.slot_at: one for one in ordered}.values():
        if (around := _around(covered, one.slot_at)) is None:
            free.append(one)
        else:
            told = f"is decided, and lies in the range from {around[0].isoformat()} to {around[1].isoformat()} as well"
            wrong.append(Finding(Kind.DOUBLED, one.slot_at, told))
    return _Ledger(free, spans, covered)


def _around(covered: Sequence[tuple[datetime, datetime]], at: datetime) -> tuple[datetime, datetime] | None:
    if not covered:
        return None
    index = bisect_right(covered, at, key=lambda span: span[1] - timedelta.resolution)
    return covered[index] if index < len(covered) and covered[index][0] < at else None


def _check(before: Era | None, era: Era, ledger: _Ledger, begin: datetime, end: datetime) -> Checked:
    """What is wrong with those of an era's decisions that lie in (begin, end]."""
    after, until = max(begin, era.after), min(end, era.until)
    if era.rule is None:
        return Checked([Finding(Kind.UNREADABLE, after, f"version {era.version}, in force from here on: {era.why}")] if era.why else [], 0)
    if era.chained:
        links = chain.merged(ledger.free, ledger.spans)
        earlier = chain.Before([link for link in links if chain.at_of(link) <= after], before is not None and before.chained)
        return chain.check(era, earlier, [link for link in links if after < chain.at_of(link) <= until], after, until)
    parts = [clock.check(era.rule, *part, _within(ledger.free, *part)) for part in _gaps(ledger.covered, after, until)]
    return Checked([finding for part in parts for finding in part.findings], count(era.rule, after, until))


def _within(ordered: Sequence[Single], after: datetime, until: datetime) -> Sequence[Single]:
    first = bisect_right(ordered, after, key=lambda one: one.slot_at)
    return ordered[first : bisect_right(ordered, until, key=lambda one: one.slot_at)]


def _gaps(covered: Sequence[tuple[datetime, datetime]], after: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The stretches of (after, until] that no range covers."""
    for first, last in covered:
        if last <= after or first >= until:
            continue
        if first > after:
            yield after, first
        after = last
    if after < until:
        yield after, until


def _outside(eras: Sequence[Era], free: Sequence[Single], after: datetime, until: datetime) -> Iterator[Finding]:
    """The decisions of times that no version was in force, or that has ended."""
    expected = [(era.after, era.until) for era in eras if era.rule is not None or era.why]
    for part in _gaps(expected, after, until):
        for one in _within(free, *part):
            yield Finding(Kind.UNEXPECTED, one.slot_at, "is decided, and the schedule did not exist then")


def _miscounted(eras: Sequence[Era], span: Span) -> Iterator[Finding]:
    own = [era for era in eras if era.after < span.until and era.until > span.after]
    if span.slots is None or any(era.why for era in own) or (eras[0].version > 1 and span.after < eras[0].after):
        return
    there = sum(_count(era, max(era.after, span.after), min(era.until, span.until)) for era in own)
    if there != span.slots:
        told = f"the range from here to {span.until.isoformat()} says {span.slots} slots, and holds {there}"
        yield Finding(Kind.WRONG_COUNT, span.after, told, span.tzdata)


def _count(era: Era, after: datetime, until: datetime) -> int:
    if era.rule is None:
        return 0
    return 1 if era.chained else count(era.rule, after, until)


def _apart(wrong: Sequence[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Findings, and what other zone data explains: where a clock change moved, one slot is missing and one unexpected on that day."""
    moved = [finding.at for finding in wrong if finding.tzdata and finding.kind is Kind.UNEXPECTED]

    def explained(finding: Finding) -> bool:
        if finding.tzdata:
            return True
        near = bisect_right(moved, finding.at - _DAY)
        return finding.kind is Kind.MISSING and near < len(moved) and moved[near] <= finding.at + _DAY

    return [one for one in wrong if not explained(one)], [one for one in wrong if explained(one)]


def _forgotten(checks: Sequence[Checked]) -> Iterator[str]:
    if number := sum(one.forgotten for one in checks):
        yield f"{number} slots follow runs that are no longer kept: their place in the chain cannot be checked"


def _other_zone_data(singles: Sequence[Single], spans: Sequence[Span]) -> Iterator[str]:
    found = sorted({one.tzdata for one in chained[Single | Span](singles, spans) if one.tzdata})
    if found:
        yield f"some were decided with tzdata {', '.join(found)}, which may place clock changes elsewhere than this process's"
