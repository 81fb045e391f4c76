"""Whether a run may be queued now: pause, breaker, concurrency, restrictions, then the hourly rate (model.md, "Admit").  Pure.

Nobody waits for ever: who has been passed over for a minute at a limit or a restriction is the next to be let in.
"""

from collections.abc import Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

from headway.core.breaker import BreakerState
from headway.core.run import Cause, State

HOUR: Final = timedelta(hours=1)
# How long others may pass a waiter, by priority or because its partners never rest, before it is its turn.
PATIENCE: Final = timedelta(seconds=60)
PASSABLE: Final = (Cause.CONCURRENCY, Cause.GATE)
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


@dataclass(frozen=True, slots=True)
class Asking(Generic[Key]):
    """A run that is due and asks to be let in: of which definition, since when, and why it waits if it does.

    A `forced` one passes restrictions.  One that is not `counted` is no concurrent run of its definition.  A `kept` one was handed back
    or rescued: it has its place, which only a pause, a breaker or a limit that is full without it can take from it.
    """

    key: Key
    due: datetime
    cause: Cause = Cause.NONE
    forced: bool = False
    counted: bool = True
    kept: bool = False

    def passed_over(self, now: datetime) -> bool:
        """Whether it has waited at a limit or a restriction for so long that what is free next is its own."""
        return self.cause in PASSABLE and self.due <= now - PATIENCE


def admit(limits: Limits, usage: Usage, now: datetime, *, forced: bool = False, counted: bool = True, kept: bool = False) -> Admission:
    """Decide where a run that is due goes: queued, held with its cause, or scheduled for when the hourly rate allows it.

    A `forced` run passes restrictions, and nothing else; a `kept` one passes them and the rate, for it was let in before.  One that is not
    `counted` is no concurrent run of its definition.
    """
    if limits.paused:
        return Admission(State.HELD, Cause.PAUSED)
    if limits.breaker is BreakerState.OPEN or (limits.breaker is BreakerState.HALF_OPEN and usage.active):
        return Admission(State.HELD, Cause.BREAKER)
    concurrent = usage.active - usage.uncounted
    if counted and 0 < limits.max_concurrent_runs <= concurrent:
        return Admission(State.HELD, Cause.CONCURRENCY, refusal=f"{concurrent} of {limits.max_concurrent_runs} runs are active")
    if usage.restricting and not (forced or kept):
        return Admission(State.HELD, Cause.GATE)
    if 0 < limits.max_runs_per_hour <= usage.last_hour and not kept:
        due = max(usage.frees_at or now, now + timedelta(seconds=1))
        return Admission(State.SCHEDULED, due=due, refusal=f"{usage.last_hour} of {limits.max_runs_per_hour} runs in the last hour")
    return Admission(State.QUEUED)


def admit_each(
    limits: Mapping[Key, Limits],
    usages: MutableMapping[Key, Usage],
    partners: Mapping[Key, Collection[Key]],
    asking: Iterable[Asking[Key]],
    now: datetime,
) -> list[Admission]:
    """Decide for runs in the order that they stand in, and note in `usages` what each leaves for those behind it.

    Whoever was passed over has to stand first, the longest due before the others.  One of those that still finds a restriction in its way
    keeps its partners out as if it had been let in: what is active of them comes to its end, and then it is its turn.
    """
    found = []
    for one in asking:
        allowed, usage = limits.get(one.key, Limits()), usages.get(one.key, Usage())
        admission = admit(allowed, usage, now, forced=one.forced, counted=one.counted, kept=one.kept)
        usages[one.key] = after(usage, admission, now, counted=one.counted)
        if admission.state is State.QUEUED or (admission.cause is Cause.GATE and one.passed_over(now)):
            restrict(usages, one.key, partners)
        found.append(admission)
    return found


def after(usage: Usage, admission: Admission, now: datetime, *, counted: bool = True) -> Usage:
    """Return the usage once an admission has been granted."""
    if admission.state is not State.QUEUED:
        return usage
    active, uncounted = usage.active + 1, usage.uncounted + (not counted)
    return replace(usage, active=active, uncounted=uncounted, last_hour=usage.last_hour + 1, frees_at=usage.frees_at or now + HOUR)


def restrict(usages: MutableMapping[Key, Usage], key: Key, partners: Mapping[Key, Collection[Key]]) -> None:
    """Note that a run of `key` is admitted or the next to be: it is in the way of every partner, itself included if it is its own."""
    for partner in set(partners.get(key, ())):
        standing = usages.get(partner, Usage())
        usages[partner] = replace(standing, restricting=standing.restricting + 1)
