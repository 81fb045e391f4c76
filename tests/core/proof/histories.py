"""Random histories of a schedule: clocks that jump, edits, pauses and runs, decided by the plan that decides them in earnest."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from headway.core.plan import plan, reach
from headway.core.proof.ledger import After, Era, Single, Span
from headway.core.schedule.chain import first_slot, following_finish
from headway.core.schedule.rule import AfterCompletion, parse_rule
from headway.core.schedule.timeline import Timeline
from headway.core.slot import Misfire, MisfireKind, Overlap, OverlapKind, ScheduleView, SlotFacts

START = datetime(2026, 3, 28, 22, tzinfo=UTC)  # three hours before clocks change in Berlin
SECOND, TICK = timedelta(seconds=1), timedelta(microseconds=1)
CLOCK_RULES: list[dict[str, Any]] = [
    {"cron": "* * * * *", "zone": "Europe/Berlin"},
    {"cron": "*/7 1-3 * * *", "zone": "Europe/Berlin"},
    {"cron": "30 2 * * *", "zone": "Europe/Berlin", "gap": "skip"},
    {"every": "7m"},
    {"every": "20m", "from": "22:00", "to": "02:40", "zone": "Europe/Berlin"},
    {"times": ["00:15", "02:30", "02:45"], "zone": "Europe/Berlin", "starts_at": "2026-03-28T23:00:00Z"},
    {"at": "2026-03-29T00:00:00Z"},
]
CHAIN_RULES: list[dict[str, Any]] = [
    {"after_completion": "1m"},
    {"after_completion": "10m", "ends_at": "2026-03-29T04:00:00Z"},
    {"after_completion": "never"},
    {"after_completion": "200ms", "starts_at": "2026-03-28T23:00:00Z"},
]


@dataclass
class History:
    """A schedule as it is decided: its versions, and what was recorded."""

    view: ScheduleView
    now: datetime
    decided_until: datetime
    facts: SlotFacts = field(default_factory=SlotFacts)
    singles: list[Single] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    begun: list[tuple[datetime, Any]] = field(default_factory=list)
    running: int | None = None

    @classmethod
    def of(cls, rule: dict[str, Any], misfire: Misfire) -> "History":
        """A schedule that was made at the start."""
        view = ScheduleView(UUID(int=1), Timeline(parse_rule(rule)), misfire=misfire, overlap=Overlap(OverlapKind.ALLOW, 10_000))
        made = cls(view, START, START)
        made.begin(rule)
        return made

    def begin(self, rule: dict[str, Any]) -> None:
        """Begin a version at what is decided."""
        parsed = parse_rule(rule)
        self.begun.append((self.decided_until, parsed))
        chained = self.view.timeline.chained_at
        if isinstance(parsed, AfterCompletion) and self.running is None:
            chained = first_slot(parsed, self.decided_until)
        self.view = replace(self.view, timeline=Timeline(parsed, chained))

    def look(self, limit: int = 20) -> None:
        """Decide up to now, or up to so many slots."""
        reached = reach(self.view, self.decided_until, self.now, limit)
        found = plan(self.view, self.decided_until, reached, self.facts, self.now)
        self.spans += [Span(one.after, one.until, one.slots, decided_at=self.now) for one in found.stretches]
        for slot, decision in found.decided:
            leads = After.FINISH if decision.fires else After.DECISION
            self.singles.append(Single(slot, decided_at=self.now, leads=leads))
            if decision.fires and self.view.timeline.chained:
                self.running = len(self.singles) - 1
        self.decided_until = reached.until
        if self.view.timeline.chained and (found.decided or found.stretches):
            fired = any(decision.fires for _, decision in found.decided)
            self._chain(None if fired else following_finish(self.rule, self.now))

    @property
    def rule(self) -> AfterCompletion:
        """The rule of a chain."""
        rule = self.view.timeline.rule
        assert isinstance(rule, AfterCompletion)
        return rule

    def finish(self) -> None:
        """End the run that is open, and chain the next slot to it."""
        if self.running is None:
            return
        self.singles[self.running] = self.singles[self.running]._replace(finished_at=self.now)
        self.running = None
        if self.view.timeline.chained and self.view.timeline.chained_at is None:
            at = following_finish(self.rule, self.now)
            self._chain(None if at is None else max(at, self.decided_until + TICK))

    def edit(self, rule: dict[str, Any]) -> None:
        """Decide everything by the version in force and begin the next one."""
        self.look(100_000)
        self.decided_until = max(self.decided_until, self.now)
        self.begin(rule)

    def eras(self) -> list[Era]:
        """The versions as they were in force."""
        ends = [after for after, _ in self.begun[1:]] + [self.decided_until]
        return [Era(number, after, end, rule) for number, ((after, rule), end) in enumerate(zip(self.begun, ends, strict=True), 1)]

    def _chain(self, at: datetime | None) -> None:
        self.view = replace(self.view, timeline=replace(self.view.timeline, chained_at=at))


ACTIONS = ["look", "look", "look", "edit", "pause", "resume", "disable", "finish", "finish"]
MISFIRES = st.builds(Misfire, st.sampled_from(MisfireKind), st.sampled_from([timedelta(), timedelta(minutes=30)]), st.integers(1, 12))


@st.composite
def histories(draw: st.DrawFn, rules: list[dict[str, Any]], least: int) -> History:
    """A schedule of some hours: edits, pauses, switches, late and early looks, and a clock that may step back."""
    history = History.of(draw(st.sampled_from(rules)), draw(MISFIRES))
    for action in draw(
        st.lists(
            st.sampled_from(["look", "look", "look", "edit", "pause", "resume", "disable", "finish", "finish"]), min_size=3, max_size=14
        )
    ):
        history.now += draw(st.sampled_from([1, 20, 61, 400, 3700, 20_000, least])) * SECOND
        _act(draw, history, action, rules)
    history.look()
    return history


def _act(draw: st.DrawFn, history: History, action: str, rules: list[dict[str, Any]]) -> None:
    match action:
        case "look":
            history.look(draw(st.integers(1, 30)))
        case "finish":
            history.finish()
        case "edit":
            history.edit(draw(st.sampled_from(rules)))
        case _:
            history.edit(next(rule for rule in rules if parse_rule(rule) == history.view.timeline.rule))
            history.facts = replace(history.facts, paused=action == "pause", enabled=action != "disable")


def mutations(history: History) -> Iterator[tuple[str, datetime, list[Single], list[Span]]]:
    """Every ledger that differs from a history's in one row: what was done, the instant concerned, and the rows."""
    singles, spans = history.singles, history.spans
    for index, one in enumerate(singles):
        rest = singles[:index] + singles[index + 1 :]
        yield "deleted", one.slot_at, rest, spans
        yield "doubled", one.slot_at, [*singles, one], spans
        yield "shifted", one.slot_at, [*rest, one._replace(slot_at=one.slot_at + TICK)], spans
    for index, span in enumerate(spans):
        others = spans[:index] + spans[index + 1 :]
        yield "range deleted", span.after, singles, others
        yield "range doubled", span.after, singles, [*spans, span]
        yield "range miscounted", span.after, singles, [*others, span._replace(slots=(span.slots or 0) + 1)]
