"""Decide what is due, announce its runs, and say when the next slot is."""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from headway.broker import hints
from headway.broker.announcer import Announcer
from headway.core.durations import format_duration
from headway.core.errors import Conflict, Invalid, NotFound
from headway.messages import RunCancel
from headway.runtime.loops import Next
from headway.runtime.metrics import SCHEDULER_CONFLICTS, SCHEDULER_DECISIONS, SCHEDULER_DELAYED, SCHEDULER_SLOT_LATENESS
from headway.runtime.settings.groups import SchedulerGroup
from headway.scheduler.clock import DatabaseClock
from headway.scheduler.membership import Membership
from headway.scheduler.refresh import Refresh
from headway.store.decide import Decided, Verdict, decide_due
from headway.store.known import Known, Manner

log = structlog.get_logger(__name__)
A_MOMENT: Final = timedelta(milliseconds=1)
A_WHILE: Final = timedelta(seconds=1)


class Decider:
    """Decides slots in batches: at their instant those of schedules that this scheduler owns, a moment later what is left of the others.

    `off` names definitions that the operator's file switches off.
    """

    def __init__(self, knobs: SchedulerGroup, refresh: Refresh, membership: Membership, clock: DatabaseClock, announcer: Announcer) -> None:
        self.knobs = knobs
        self.database = refresh.database
        self.cache = refresh.cache
        self.refresh = refresh
        self.membership = membership
        self.clock = clock
        self.announcer = announcer
        self.off: frozenset[str] = frozenset()
        self.manner = Manner(knobs.grace_seconds, knobs.catch_up)
        self.patience = timedelta(seconds=knobs.second_look_seconds)

    async def step(self) -> Next:
        """Decide what is due, at most one batch, and say when the next look is.  Raises Unavailable."""
        due = self.cache.due(self.clock.now() + A_MOMENT, self.knobs.batch)
        mine = await self._mine(due) if due else []
        return self._sleep(await self._decide_together(mine) if mine else 0)

    async def _mine(self, due: Sequence[Known]) -> list[Known]:
        """Leave to other schedulers what is theirs, and return the rest, with what they have been left and did not decide."""
        again = [known.id for known in due if self.cache.was_left(known.id)]
        theirs = {known.id for known in due if not self.cache.was_left(known.id) and not self.membership.owns(known.id)}
        self._leave(theirs, self.patience)
        if again:
            await self.refresh.reread(again)
        return [known for known in due if known.id not in theirs and self.cache.get(known.id) is known]

    def _leave(self, ids: Collection[UUID], patience: timedelta) -> None:
        until = self.clock.now() + patience
        for id_ in ids:
            self.cache.leave(id_, until)

    async def _decide_together(self, due: Sequence[Known]) -> int:
        try:
            return len((await self._decide(due)).verdicts)
        except (Invalid, Conflict, NotFound):
            return sum([await self._decide_alone(known) for known in due])

    async def _decide_alone(self, known: Known) -> int:
        """Decide one schedule of a batch in which one cannot be decided: that one is marked broken, the others go on."""
        try:
            return len((await self._decide([known])).verdicts)
        except Invalid as error:
            async with self.database.begin() as tx:
                await self.refresh.broken(tx, known, error)
        except (Conflict, NotFound) as error:  # its definition is being changed
            log.warning("schedule was left for a while", schedule=str(known.id), name=known.name, error=str(error))
            self._leave([known.id], A_WHILE)
        return 0

    async def _decide(self, due: Sequence[Known]) -> Decided:
        async with self.database.begin() as tx:
            self.clock.read(tx.now)
            decided = await decide_due(tx, due, self.manner, self.off)
        self._announce(decided)
        await self.refresh.moved(decided.moved)
        if decided.conflicts:
            SCHEDULER_CONFLICTS.inc(len(decided.conflicts))
            await self.refresh.reread(decided.conflicts)
        measure(decided)
        return decided

    def _announce(self, decided: Decided) -> None:
        self.announcer.put(hints.created([hints.Queued(run.id, run.queue, run.priority) for run in decided.queued], at=decided.at))
        if decided.wished:
            self.announcer.put([hints.letter(RunCancel(runs=tuple(decided.wished)), at=decided.at)])

    def _sleep(self, found: int) -> Next:
        due = self.cache.next_due()
        return Next(found, sleep=None if due is None else max(timedelta(), due - self.clock.now()))


def measure(decided: Decided) -> None:
    """Count what was decided, and tell of what went wrong or was late."""
    counts = Counter(_label(verdict) for verdict in decided.verdicts)
    for (decision, reason), count in counts.items():
        SCHEDULER_DECISIONS.labels(decision, reason).inc(count)
    for definition, schedule, slot_at, faults in decided.faults:
        log.warning("templates were kept as written", definition=definition, schedule=schedule, slot_at=slot_at, faults=faults)
    for verdict, late in _delayed(decided):
        SCHEDULER_DELAYED.inc()
        log.warning(
            "slot fired later than allowed",
            definition=verdict.known.definition,
            schedule=verdict.known.name,
            slot_at=verdict.slot_at,
            late=format_duration(late),
        )
    SCHEDULER_SLOT_LATENESS.observe_many(_lateness(decided.verdicts, decided.at))


def _delayed(decided: Decided) -> list[tuple[Verdict, timedelta]]:
    """Slots that fired later than their schedule allows, with how late they were: what their owner wants to hear of (DEF-19)."""
    late = [(one, decided.at - one.decision.effective_at) for one in decided.verdicts if one.decision.fires]
    return [(one, by) for one, by in late if one.known.allowed_delay is not None and by > one.known.allowed_delay]


def _label(verdict: Verdict) -> tuple[str, str]:
    decision = verdict.decision
    return decision.kind.name.lower(), decision.reason.value if decision.reason else ""


def _lateness(verdicts: Sequence[Verdict], now: datetime) -> list[float]:
    return [max(0.0, (now - verdict.decision.effective_at).total_seconds()) for verdict in verdicts]
