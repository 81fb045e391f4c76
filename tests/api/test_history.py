"""A run's history, told from its rows."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from headway.api.history import history
from headway.api.run_views import attempts_of
from headway.core.ask import Origin
from headway.core.outcome import AttemptOutcome, RunOutcome
from headway.core.run import State

START = datetime(2026, 3, 1, 7, tzinfo=UTC)
SESSION = UUID(int=7)
RUN = UUID(int=1)


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def run(**columns: Any) -> dict[str, Any]:
    plain = dict.fromkeys(
        ("slot_at", "started_at", "session", "reason", "cancel_requested_at", "cancel_by", "finished_at", "outcome", "error")
    )
    return {
        **plain,
        "id": RUN,
        "state": int(State.QUEUED),
        "attempt": 0,
        "created_at": START,
        "available_at": START,
        "created_by": "scheduler",
        "origin": int(Origin.SLOT),
        **columns,
    }


def attempt(number: int, outcome: AttemptOutcome, **columns: Any) -> dict[str, Any]:
    times = {"started_at": at(number * 10), "ended_at": at(number * 10 + 5)}
    return {"attempt": number, "session": SESSION, "outcome": int(outcome), "reason": "", "error": None, **times, **columns}


def test_a_run_that_was_retried_tells_of_every_attempt() -> None:
    """Each try is named retry:<run>:<attempt>, with who held it and what went wrong (RUN-03, RTY-04)."""
    done = run(
        state=int(State.SUCCEEDED),
        attempt=2,
        slot_at=START,
        session=SESSION,
        started_at=at(20),
        finished_at=at(25),
        outcome=int(RunOutcome.SUCCESS),
    )
    kept = [
        attempt(1, AttemptOutcome.FAILURE, error={"kind": "ValueError", "message": "no such file", "stack": ""}),
        attempt(2, AttemptOutcome.SUCCESS),
    ]
    told = [(event.state, event.name) for event in history(done, kept)]
    assert told == [
        ("queued", "create"),
        ("running", f"attempt:{RUN}:1"),
        ("scheduled", f"retry:{RUN}:1"),
        ("running", f"attempt:{RUN}:2"),
        ("succeeded", "end"),
    ]
    assert history(done, kept)[2].why == "attempt 1 ended as failure: no such file"
    assert history(done, kept)[0].why == f"slot {START.isoformat()}"
    assert [one.outcome for one in attempts_of(done, kept)] == ["failure", "success"]


def test_a_first_success_is_told_from_the_run_alone() -> None:
    """A first-time success stores no attempt row and is shown all the same (RUN-14)."""
    done = run(state=int(State.SUCCEEDED), attempt=1, session=SESSION, started_at=at(1), finished_at=at(2), outcome=int(RunOutcome.SUCCESS))
    assert [event.state for event in history(done, [])] == ["queued", "running", "succeeded"]
    [only] = attempts_of(done, [])
    assert (only.attempt, only.outcome, only.started_at, only.ended_at) == (1, "success", at(1), at(2))
    assert attempts_of(run(), []) == []


def test_a_hand_back_and_a_cancel_are_told() -> None:
    """A drained worker's run is queued again; a wish and its end name who asked (RUN-07, RUN-06)."""
    ended = run(
        state=int(State.CANCELLED),
        attempt=2,
        session=SESSION,
        started_at=at(20),
        cancel_requested_at=at(21),
        cancel_by="api",
        reason="a typo",
        finished_at=at(22),
        outcome=int(RunOutcome.CANCELLED),
    )
    told = history(ended, [attempt(1, AttemptOutcome.HANDED_BACK)])
    assert [event.state for event in told] == ["queued", "running", "queued", "running", "cancelling", "cancelled"]
    assert (told[4].by, told[4].why, told[5].by) == ("api", "a typo", f"session {SESSION}")
