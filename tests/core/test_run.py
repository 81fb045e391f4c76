"""The state machine of runs, and what an outcome makes of a run."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import Conflict
from headway.core.outcome import (
    AttemptOutcome,
    Cancelled,
    Failure,
    HandedBack,
    Lost,
    Outcome,
    PartialSuccess,
    RunOutcome,
    SafeError,
    Skipped,
    Snooze,
    Success,
    Timeout,
)
from headway.core.retry import Backoff, BackoffKind, Policy
from headway.core.run import FINAL, MOST_CRASHES, NEXT, OPEN, Open, Settlement, State, settle, sources, succeed

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ERROR = SafeError("ValueError", "no")
SUCCESSES = (Success, PartialSuccess)

spans = st.timedeltas(timedelta(days=-1), timedelta(days=2))
policies = st.builds(
    Policy,
    attempts=st.integers(1, 30_000),
    backoff=st.builds(
        Backoff,
        kind=st.sampled_from(BackoffKind),
        base=st.timedeltas(timedelta(), timedelta(days=2)),
        jitter=st.floats(0, 1),
        delays=st.lists(st.timedeltas(timedelta(), timedelta(days=2)), min_size=1, max_size=3),
    ),
    horizon=st.none() | st.timedeltas(timedelta(), timedelta(days=400)),
)
failures = st.one_of(
    st.builds(Failure, st.just(ERROR), permanent=st.booleans(), retry_after=st.none() | spans | st.just(timedelta.max)),
    st.builds(Timeout, forced=st.booleans()),
)
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Success, result=st.none() | st.just({"rows": 3}), warnings=st.just(()) | st.just(("slow",))),
    st.just(PartialSuccess()),
    failures,
    st.just(Lost()),
    st.just(HandedBack()),
    st.builds(Snooze, spans | st.just(timedelta.max) | st.just(timedelta.min)),
    st.builds(Cancelled, st.sampled_from(("", "no longer needed")), st.booleans()),
    st.just(Skipped("disabled")),
)


def opened(state: State = State.RUNNING, **fields: object) -> Open:
    """An open run at its first attempt, with the fields that a test is about."""
    given_: dict[str, object] = {"attempt": 1, "failures": 0, "crashes": 0, "first_due": NOW, "policy": Policy(attempts=3)}
    return Open(UUID(int=7), state, **(given_ | fields))  # type: ignore[arg-type]  # the fields of one dataclass, by name


open_runs = st.builds(
    Open,
    id=st.uuids(),
    state=st.sampled_from(sorted(OPEN)),
    attempt=st.integers(0, 100_000),
    failures=st.integers(0, 30_000),
    crashes=st.integers(0, MOST_CRASHES - 1),
    first_due=st.datetimes(datetime(2020, 1, 1), datetime(2026, 3, 1)).map(lambda at: at.replace(tzinfo=UTC)),  # noqa: DTZ001  # UTC is put on at once
    policy=policies,
    restartable=st.booleans(),
    cancel_reason=st.none() | st.just("cancelled by ann"),
)

running_runs = open_runs.map(lambda run: replace(run, state=State.RUNNING, cancel_reason=None))


def settled(run: Open, outcome: Outcome) -> Settlement | None:
    """What becomes of a run, or None where its state does not lead there."""
    try:
        return settle(run, outcome, NOW)
    except Conflict:
        return None


@given(open_runs, outcomes)
def test_a_run_moves_only_along_next(run: Open, outcome: Outcome) -> None:
    """RUN-01: whatever its state, counters, policy and outcome, a run moves along NEXT or does not move at all."""
    settlement = settled(run, outcome)
    assert settlement is None or settlement.state in NEXT[run.state]
    assert settlement is not None or run.state is not State.RUNNING


@given(open_runs, outcomes)
def test_a_final_state_has_an_outcome_and_no_other_has(run: Open, outcome: Outcome) -> None:
    """RUN-02: a final state always says how it ended; a run that goes on says nothing of the kind; only a wait has an instant ahead."""
    settlement = settled(run, outcome)
    if settlement is not None:
        assert (settlement.outcome is not None) == (settlement.state in FINAL)
        assert settlement.due is None or settlement.due >= NOW
        assert settlement.due is not None or settlement.state is not State.SCHEDULED


@given(open_runs, outcomes)
def test_only_failures_and_losses_are_counted(run: Open, outcome: Outcome) -> None:
    """RTY-08: Failure and Timeout add one failure, Lost adds one crash, under no cancel wish; nothing else charges anything."""
    settlement = settled(run, outcome)
    if settlement is None:
        return
    failed = isinstance(outcome, Failure | Timeout) and run.cancel_reason is None
    lost = isinstance(outcome, Lost) and run.cancel_reason is None
    assert (settlement.failures, settlement.crashes) == (run.failures + failed, run.crashes + lost)


@given(open_runs, outcomes)
def test_a_cancel_wish_leaves_successes_alone_and_cancels_the_rest(run: Open, outcome: Outcome) -> None:
    """RUN-06, RUN-07: with a wish a success stays succeeded and says so; hand-back, retry, snooze, loss and all else become cancelled."""
    settlement = settled(run, outcome)
    if settlement is None or run.cancel_reason is None:
        return
    if isinstance(outcome, SUCCESSES):
        assert (settlement.state, settlement.reason) == (State.SUCCEEDED, "finished before cancel")
    else:
        assert (settlement.state, settlement.outcome) == (State.CANCELLED, RunOutcome.CANCELLED)


@given(open_runs, outcomes)
def test_cancelled_and_skipped_are_never_tried_again(run: Open, outcome: Outcome) -> None:
    """RTY-01: Cancelled and Skipped end a run, whatever attempts it has left."""
    settlement = settled(run, outcome)
    if settlement is not None and isinstance(outcome, Cancelled | Skipped):
        assert settlement.state in (State.CANCELLED, State.SKIPPED)


@given(running_runs, failures)
def test_a_failure_is_tried_again_until_the_attempts_are_spent(run: Open, outcome: Failure | Timeout) -> None:
    """RTY-03: a failure goes on while failures stay below the attempts and the next one lies inside the horizon, and fails otherwise."""
    settlement = settle(run, outcome, NOW)
    left = run.failures + 1 < run.policy.attempts and not (isinstance(outcome, Failure) and outcome.permanent)
    if not left:
        assert settlement.state is State.FAILED
    elif run.policy.horizon is None:
        assert settlement.state in (State.QUEUED, State.SCHEDULED)
    elif settlement.due is not None:
        assert settlement.due <= run.first_due + run.policy.horizon


@pytest.mark.parametrize(
    ("outcome", "state", "attempt", "ended"),
    [
        (Success(), State.SUCCEEDED, AttemptOutcome.SUCCESS, RunOutcome.SUCCESS),
        (Success(warnings=("late",)), State.SUCCEEDED, AttemptOutcome.SUCCESS_WITH_WARNINGS, RunOutcome.SUCCESS_WITH_WARNINGS),
        (PartialSuccess(), State.SUCCEEDED, AttemptOutcome.PARTIAL_SUCCESS, RunOutcome.PARTIAL_SUCCESS),
        (Failure(ERROR), State.SCHEDULED, AttemptOutcome.FAILURE, None),
        (Failure(ERROR, permanent=True), State.FAILED, AttemptOutcome.FAILURE, RunOutcome.FAILURE),
        (Failure(ERROR, retry_after=timedelta()), State.QUEUED, AttemptOutcome.FAILURE, None),
        (Timeout(), State.SCHEDULED, AttemptOutcome.TIMEOUT, None),
        (Lost(), State.QUEUED, AttemptOutcome.LOST, None),
        (HandedBack(), State.QUEUED, AttemptOutcome.HANDED_BACK, None),
        (Snooze(SECOND), State.SCHEDULED, AttemptOutcome.SNOOZED, None),
        (Cancelled(), State.CANCELLED, AttemptOutcome.CANCELLED, RunOutcome.CANCELLED),
        (Cancelled(forced=True), State.CANCELLED, AttemptOutcome.FORCED, RunOutcome.CANCELLED),
        (Skipped("nothing to do"), State.SKIPPED, AttemptOutcome.SKIPPED, RunOutcome.SKIPPED),
    ],
)
def test_what_an_outcome_makes_of_a_running_run(outcome: Outcome, state: State, attempt: AttemptOutcome, ended: RunOutcome | None) -> None:
    """RUN-02, RUN-14: each outcome has its state, its attempt's record and its run's end."""
    settlement = settle(opened(), outcome, NOW)
    assert (settlement.state, settlement.attempt_outcome, settlement.outcome) == (state, attempt, ended)


@pytest.mark.parametrize(("crashes", "state"), [(0, State.QUEUED), (1, State.QUEUED), (2, State.FAILED)])
def test_the_third_crash_is_the_last(crashes: int, state: State) -> None:
    """BB-057: a run whose worker dies each time is queued twice and fails as Crashed with the third loss, however many attempts it has."""
    settlement = settle(opened(crashes=crashes, policy=Policy(attempts=20)), Lost(), NOW)
    assert (settlement.state, settlement.crashes) == (state, crashes + 1)
    if state is State.FAILED:
        assert (settlement.outcome, settlement.reason) == (RunOutcome.CRASHED, "crash limit")


def test_what_may_not_restart_fails_with_its_worker() -> None:
    """RTY-09, BB-067: a run that is not restartable fails as Crashed at the first loss, and says why."""
    settlement = settle(opened(restartable=False), Lost(), NOW)
    assert (settlement.state, settlement.outcome) == (State.FAILED, RunOutcome.CRASHED)
    assert "not restartable" in settlement.reason


@given(running_runs)
def test_a_success_needs_nothing_of_its_run(run: Open) -> None:
    """A success is decided without reading the row: what settle adds are the counters as they stand and the word on a late wish."""
    decided, quick = settle(run, Success({"rows": 1}), NOW), succeed(Success({"rows": 1}))
    assert (decided.state, decided.outcome, decided.result) == (quick.state, quick.outcome, quick.result)


@pytest.mark.parametrize("state", [State.HELD, State.SCHEDULED, State.QUEUED])
def test_what_nobody_started_is_only_given_up(state: State) -> None:
    """RUN-06: a run that does not run can be cancelled or skipped; a success of one that is no batch parent is refused."""
    assert settle(opened(state), Cancelled("no"), NOW).state is State.CANCELLED
    assert settle(opened(state), Skipped("disabled"), NOW).state is State.SKIPPED
    if state is not State.HELD:
        with pytest.raises(Conflict):
            settle(opened(state), Success(), NOW)


def test_an_absurd_wait_is_bounded() -> None:
    """A handler that asks for eternity or for the past is still recorded: at most a century from now, never before it."""
    assert settle(opened(), Snooze(timedelta.max), NOW).due == NOW + timedelta(days=36_500)
    assert settle(opened(), Snooze(timedelta.min), NOW).due == NOW
    assert settle(opened(), Failure(ERROR, retry_after=timedelta(days=-9)), NOW).due == NOW


def test_final_states_are_never_left() -> None:
    """RUN-13: no state follows a final one, and every open state leads to one."""
    assert {State.SUCCEEDED, State.FAILED, State.CANCELLED, State.SKIPPED} == FINAL
    assert all(not NEXT[state] for state in FINAL)
    assert all(reachable(state) & FINAL for state in OPEN)


@pytest.mark.parametrize("state", sorted(State))
def test_every_state_can_be_reached_and_says_from_where(state: State) -> None:
    """The table is closed: `sources` is its reverse, and every state is the end of some move."""
    assert sources(state) == {before for before in State if state in NEXT[before]}
    assert sources(state)


def test_only_queued_runs_start() -> None:
    """RUN-04: running follows queued alone; a due run is queued or held first."""
    assert sources(State.RUNNING) == {State.QUEUED}
    assert NEXT[State.SCHEDULED] & OPEN == {State.QUEUED, State.HELD}


def reachable(state: State) -> frozenset[State]:
    """Every state that some walk from this one comes to."""
    found: set[State] = set()
    waiting = [state]
    while waiting:
        following = NEXT[waiting.pop()] - found
        found |= following
        waiting += following
    return frozenset(found)
