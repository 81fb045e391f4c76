"""What happened to a run, told from its rows: who, when and why of every move that left a trace."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel

from headway.core.ask import Origin
from headway.core.outcome import AttemptOutcome
from headway.core.run import FINAL, State
from headway.store.tx import Row

RETRYING: Final = frozenset({AttemptOutcome.FAILURE, AttemptOutcome.TIMEOUT, AttemptOutcome.LOST})


class Event(BaseModel):
    """One move of a run: what it became, when, by whom, and why.  `name` identifies it, such as `retry:<run>:<attempt>`."""

    at: datetime
    state: str
    by: str
    why: str
    name: str


def history(run: Row, attempts: Sequence[Row]) -> list[Event]:
    """Return the moves of a run, oldest first.  A first attempt that succeeded has no row of its own: the run tells of it."""
    events = [*_birth(run), *_attempts(run, attempts), *_present_attempt(run, attempts), *_wish(run), *_end(run)]
    return sorted(events, key=lambda event: event.at)


def _birth(run: Row) -> Iterator[Event]:
    later = run["available_at"] > run["created_at"] and run["attempt"] == 0
    yield _event(run, run["created_at"], "scheduled" if later else "queued", run["created_by"], _origin(run), "create")


def _origin(run: Row) -> str:
    if run["origin"] == Origin.TRIGGER:
        return f"triggered by run {run['parent']} through trigger {run['created_by'].removeprefix('trigger:')}"
    return f"slot {run['slot_at'].isoformat()}" if run["slot_at"] is not None else "asked for"


def _attempts(run: Row, attempts: Sequence[Row]) -> Iterator[Event]:
    for attempt in attempts:
        number, outcome = attempt["attempt"], AttemptOutcome(attempt["outcome"])
        if attempt["started_at"] is not None:
            yield _event(run, attempt["started_at"], "running", _session(attempt), f"attempt {number} began", f"attempt:{{run}}:{number}")
        if not (State(run["state"]) in FINAL and number == run["attempt"]):
            kind = "retry" if outcome in RETRYING else outcome.name.lower()
            yield _event(run, attempt["ended_at"], _after(outcome), _session(attempt), _why(attempt, outcome), f"{kind}:{{run}}:{number}")


def _present_attempt(run: Row, attempts: Sequence[Row]) -> Iterator[Event]:
    number = run["attempt"]
    if run["started_at"] is not None and number and number not in {attempt["attempt"] for attempt in attempts}:
        yield _event(run, run["started_at"], "running", _session(run), f"attempt {number} began", f"attempt:{{run}}:{number}")


def _wish(run: Row) -> Iterator[Event]:
    if run["cancel_requested_at"] is not None:
        yield _event(run, run["cancel_requested_at"], "cancelling", run["cancel_by"] or "", run["reason"] or "", "cancel")


def _end(run: Row) -> Iterator[Event]:
    if run["finished_at"] is not None:
        by = _session(run) if run["attempt"] else (run["cancel_by"] or "")
        yield _event(run, run["finished_at"], State(run["state"]).name.lower(), by, run["reason"] or "", "end")


def _after(outcome: AttemptOutcome) -> str:
    return "queued" if outcome is AttemptOutcome.HANDED_BACK else "scheduled"


def _why(attempt: Row, outcome: AttemptOutcome) -> str:
    said = attempt["reason"] or (attempt["error"] or {}).get("message", "")
    return f"attempt {attempt['attempt']} ended as {outcome.name.lower()}" + (f": {said}" if said else "")


def _session(row: Row) -> str:
    return f"session {row['session']}" if row["session"] is not None else ""


def _event(run: Row, *told: Any) -> Event:
    at, state, by, why, name = told
    return Event(at=at, state=state, by=by, why=why, name=name.replace("{run}", str(run["id"])))
