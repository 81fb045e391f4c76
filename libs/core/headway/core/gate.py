"""Whether a run may be queued now: pause, breaker, concurrency, restrictions, then the hourly rate (model.md, "Admit").  Pure."""

from collections.abc import Collection, Mapping, MutableMapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

from headway.core.breaker import BreakerState
from headway.core.run import Cause, State

HOUR: Final = timedelta(hours=1)
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a definition allows; 0 is no limit.  `refuse` turns away instead of waiting."""

    max_concurrent_runs: int = 0
    max_runs_per_hour: int = 0
    refuse: bool = False
    paused: bool = False
    breaker: BreakerState = BreakerState.CLOSED


@dataclass(frozen=True, slots=True)
class Usage:
    """What is in use: runs queued or running, runs admitted in the last hour, and when the oldest of those is an hour old.

    `restricting` runs are active of definitions that must not be active together with this one; that may be itself.  `uncounted` ones of
    those in use are no concurrent runs of the definition.
    """

    active: int = 0
    last_hour: int = 0
    frees_at: datetime | None = None
    restricting: int = 0
    uncounted: int = 0


@dataclass(frozen=True, slots=True)
class Admission:
    """Where a run goes; `refusal` says why whoever asked is turned away, where that is allowed."""

    state: State
    cause: Cause = Cause.NONE
    due: datetime | None = None
    refusal: str = ""


def admit(limits: Limits, usage: Usage, now: datetime, *, forced: bool = False, counted: bool = True) -> Admission:
    """Decide where a run that is due goes: queued, held with its cause, or scheduled for when the hourly rate allows it.

    A `forced` run passes restrictions, and nothing else.  One that is not `counted` is no concurrent run of its definition.
    """
    if limits.paused:
        return Admission(State.HELD, Cause.PAUSED)
    if limits.breaker is BreakerState.OPEN or (limits.breaker is BreakerState.HALF_OPEN and usage.active):
        return Admission(State.HELD, Cause.BREAKER)
    concurrent = usage.active - usage.uncounted
    if counted and 0 < limits.max_concurrent_runs <= concurrent:
        return Admission(State.HELD, Cause.CONCURRENCY, refusal=f"{concurrent} of {limits.max_concurrent_runs} runs are active")
    if usage.restricting and not forced:
        return Admission(State.HELD, Cause.GATE)
    if 0 < limits.max_runs_per_hour <= usage.last_hour:
        due = max(usage.frees_at or now, now + timedelta(seconds=1))
        return Admission(State.SCHEDULED, due=due, refusal=f"{usage.last_hour} of {limits.max_runs_per_hour} runs in the last hour")
    return Admission(State.QUEUED)


def after(usage: Usage, admission: Admission, now: datetime, *, counted: bool = True) -> Usage:
    """Return the usage once an admission has been granted."""
    if admission.state is not State.QUEUED:
        return usage
    active, uncounted = usage.active + 1, usage.uncounted + (not counted)
    return replace(usage, active=active, uncounted=uncounted, last_hour=usage.last_hour + 1, frees_at=usage.frees_at or now + HOUR)


def restrict(usages: MutableMapping[Key, Usage], key: Key, partners: Mapping[Key, Collection[Key]]) -> None:
    """Note that a run of `key` has been admitted: it stands in the way of every partner, itself included if it is its own."""
    for partner in set(partners.get(key, ())):
        standing = usages.get(partner, Usage())
        usages[partner] = replace(standing, restricting=standing.restricting + 1)
