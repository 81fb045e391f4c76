"""What is made of the ends of children, and when their parent may end."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.ask import QUIET, Ask, Origin
from headway.core.batch import (
    MOST_CHILDREN,
    WORST_FIRST,
    BatchAsk,
    Mixed,
    Parentage,
    aggregate,
    batch_problems,
    children_of,
    conclude,
    parent_ask,
    percent,
    result_of,
    room,
    told,
)
from headway.core.outcome import FAILURES, SUCCESSES, RunOutcome
from headway.core.retry import Policy
from headway.core.run import FINAL, Cause, Open, State

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PARENT = Open(UUID(int=1), State.HELD, 0, 0, 0, NOW, Policy(attempts=5))
WISHED = Open(UUID(int=1), State.HELD, 0, 0, 0, NOW, Policy(attempts=5), cancel_reason="cancelled by ann")
RANK = {outcome: len(WORST_FIRST) - place for place, line in enumerate(WORST_FIRST) for outcome in line}
O = RunOutcome  # noqa: E741  # a table of them stands below

counts = st.dictionaries(st.sampled_from(RunOutcome), st.integers(0, 20))
mixes = st.sampled_from(Mixed)


@pytest.mark.parametrize(
    ("there", "mixed", "whole"),
    [
        ({}, Mixed.WORST, O.SUCCESS),
        ({O.SUCCESS: 9}, Mixed.WORST, O.SUCCESS),
        ({O.SUCCESS: 9, O.SUCCESS_WITH_WARNINGS: 1}, Mixed.PARTIAL, O.SUCCESS_WITH_WARNINGS),
        ({O.SUCCESS_WITH_WARNINGS: 9, O.PARTIAL_SUCCESS: 1}, Mixed.WORST, O.PARTIAL_SUCCESS),
        ({O.PARTIAL_SUCCESS: 9, O.SKIPPED: 1}, Mixed.WORST, O.SKIPPED),
        ({O.SKIPPED: 9, O.CANCELLED: 1}, Mixed.PARTIAL, O.CANCELLED),
        ({O.CANCELLED: 9, O.CRASHED: 1}, Mixed.WORST, O.FAILURE),
        ({O.SUCCESS: 9, O.TIMEOUT: 1}, Mixed.WORST, O.FAILURE),
        ({O.SUCCESS: 9, O.TIMEOUT: 1}, Mixed.PARTIAL, O.PARTIAL_SUCCESS),
        ({O.SUCCESS: 9, O.CANCELLED: 1, O.FAILURE: 1}, Mixed.PARTIAL, O.PARTIAL_SUCCESS),
        ({O.SUCCESS: 9, O.CANCELLED: 1}, Mixed.PARTIAL, O.CANCELLED),
        ({O.CANCELLED: 9, O.FAILURE: 1}, Mixed.PARTIAL, O.FAILURE),
        ({O.FAILURE: 0, O.SUCCESS: 1}, Mixed.WORST, O.SUCCESS),
    ],
)
def test_the_worst_names_the_whole(there: dict[RunOutcome, int], mixed: Mixed, whole: RunOutcome) -> None:
    """BAT-04: failures before cancelled and skipped, partial success, warnings, success; a mix is a partial success by policy only."""
    assert aggregate(there, mixed) is whole


@given(counts, st.sampled_from(RunOutcome))
def test_one_more_child_makes_nothing_better(there: dict[RunOutcome, int], one: RunOutcome) -> None:
    """BAT-04: worst first, whatever the counts: one more end never lifts the whole, and never sinks it below itself."""
    before, after = aggregate(there), aggregate(there | {one: there.get(one, 0) + 1})
    assert RANK[after] >= min(RANK[before], RANK[one])
    assert RANK[after] == max(RANK[one], RANK[before] if any(there.values()) else 0)


@given(counts, mixes, st.sampled_from([PARENT, WISHED]))
def test_a_parent_ends_once_and_for_good(there: dict[RunOutcome, int], mixed: Mixed, parent: Open) -> None:
    """BAT-05: whatever the children came to, the parent's state is final, whatever its definition says of retries."""
    settlement = conclude(parent, there, mixed, NOW)
    assert settlement.state in FINAL
    assert settlement.outcome is not None
    whole = aggregate(there, mixed)
    if whole in SUCCESSES:
        assert settlement.state is State.SUCCEEDED
    else:
        assert (settlement.state is State.FAILED) == (whole in FAILURES and parent is PARENT)
        assert parent is PARENT or settlement.state is State.CANCELLED


@given(counts, mixes)
def test_counts_are_summed(there: dict[RunOutcome, int], mixed: Mixed) -> None:
    """BAT-04: the result has each outcome that there was with its count, and their sum."""
    result = conclude(PARENT, there, mixed, NOW).result
    assert result == result_of(there)
    assert result["total"] == sum(there.values()) == sum(result["outcomes"].values())


def test_a_parent_says_what_went_wrong() -> None:
    """A failed parent names how many of its children ended in which way, the worst first."""
    settlement = conclude(PARENT, {O.SUCCESS: 7, O.CANCELLED: 2, O.TIMEOUT: 1}, Mixed.WORST, NOW)
    assert settlement.reason == "of 10 children 1 timeout, 2 cancelled"
    assert settlement.error is not None and (settlement.error.kind, settlement.error.message) == ("ChildrenFailed", settlement.reason)
    assert conclude(PARENT, {O.SUCCESS: 7}, Mixed.WORST, NOW).reason == ""


@given(st.integers(1, 5000), st.data())
def test_progress_is_the_rounded_share(total: int, data: st.DataObject) -> None:
    """BAT-03: round(100·done/total), which never falls while children end, and reaches 100 with the last one."""
    done = data.draw(st.integers(0, total - 1))
    assert percent(done, total) == round(100 * done / total) <= percent(done + 1, total)
    assert (percent(0, total), percent(total, total), percent(0, 0)) == (0, 100, 0)
    assert told(done, total) == f"{done}/{total} children complete"


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_no_more_are_let_in_than_there_is_room_for(most: int, inside: int, waiting: int) -> None:
    """BAT-06: children that are let in never exceed the limit together, none waits for no reason, and 0 is no limit."""
    free = room(most, inside, waiting)
    assert 0 <= free <= waiting
    assert not most or inside + free <= max(most, inside)
    assert free == waiting or (most and inside + free >= most)


def test_children_take_after_their_parent() -> None:
    """BAT-01, BAT-02, TRG-05: index by index, quiet, uncounted where they run the parent's own definition, their own wishes first."""
    asks = [Ask("report", params="{}"), Ask("mail", priority=9, correlation="own")]
    parentage = Parentage(UUID(int=7), "report", "acme", 3, "c-1", counted=False, triggers=False, waits=True)
    first, second = children_of(parentage, asks, 5, owes=2)
    assert (first.batch_index, first.counted, first.priority, first.correlation) == (5, False, 3, "c-1")
    assert (second.batch_index, second.counted, second.priority, second.correlation) == (6, True, 9, "own")
    assert {(one.tenant, one.parent, one.origin, one.owes, one.cause) for one in (first, second)} == {
        ("acme", UUID(int=7), Origin.CHILD, 2 | QUIET, Cause.BATCH)
    }
    [loud] = children_of(parentage._replace(counted=True, triggers=True, waits=False), asks[:1], 0, owes=2)
    assert (loud.counted, loud.owes, loud.cause) == (True, 2, Cause.NONE)
    assert parent_ask(Ask("report", key="k")).cause is Cause.CHILDREN


def test_a_batch_is_refused_with_everything_that_is_wrong() -> None:
    """BAT-01: every problem by its place, those of the parent under their own name, those of children by index."""
    wanted = BatchAsk(Ask("report", priority=10), [Ask("report"), Ask("report", priority=11, key="k")], max_concurrent=-1)
    assert [problem.field for problem in batch_problems(wanted)] == [
        "max_concurrent",
        "priority",
        "children[1].priority",
        "children[1].key",
    ]
    assert [problem.field for problem in batch_problems(BatchAsk(Ask("report")))] == ["children"]
    assert not list(batch_problems(BatchAsk(Ask("report"), closed=False)))
    assert [problem.field for problem in batch_problems(BatchAsk(Ask("a"), [Ask("a")] * (MOST_CHILDREN + 1)))] == ["children"]
