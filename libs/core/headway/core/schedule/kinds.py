"""What a schedule may say, as values: one class for each kind of rule.

All of them have a zone, bounds and a jitter.  Sets of weekdays and months are masks: bit n stands for value n, weekday 0 is Sunday.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final

from headway.core.schedule.cron import Expression
from headway.core.schedule.plugins import SlotSource
from headway.core.schedule.policies import Fold, Gap
from headway.core.schedule.walls import Pattern, at_times, of_expression, within

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
SHORTEST: Final = timedelta(milliseconds=200)
EVERY_WEEKDAY: Final = 0b111_1111
EVERY_MONTH: Final = 0b1_1111_1111_1110


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """What every rule has: a zone, bounds that are both inclusive, and a window over which the starts of its runs are spread."""

    zone: str = "UTC"
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    jitter: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class Cron(Shared):
    """Local times of a zone that match a cron expression."""

    expression: Expression
    gap: Gap = Gap.NEXT_VALID
    fold: Fold = Fold.FIRST

    @property
    def pattern(self) -> Pattern:
        """The walls that match."""
        return of_expression(self.expression)

    @property
    def effective_gap(self) -> Gap:
        """The gap policy that counts: a periodic expression has none of its times made up."""
        return Gap.SKIP if self.expression.periodic else self.gap

    @property
    def effective_fold(self) -> Fold:
        """The fold policy that counts: a periodic expression has both of its times."""
        return Fold.BOTH if self.expression.periodic else self.fold


@dataclass(frozen=True, slots=True)
class Daily(Shared):
    """Set local times of the days that are of one of the weekdays and of one of the months."""

    times: tuple[time, ...]
    weekdays: int = EVERY_WEEKDAY
    months: int = EVERY_MONTH
    gap: Gap = Gap.NEXT_VALID
    fold: Fold = Fold.FIRST

    @property
    def pattern(self) -> Pattern:
        """The walls that match."""
        return at_times(self.times, self.weekdays, self.months)

    @property
    def effective_gap(self) -> Gap:
        """The gap policy that counts."""
        return self.gap

    @property
    def effective_fold(self) -> Fold:
        """The fold policy that counts."""
        return self.fold


@dataclass(frozen=True, slots=True)
class Within(Shared):
    """Local times `opens`, `opens + every`, ... before `closes`; the window opens on the weekdays and may run past midnight.

    `closes` at or before `opens` is a time of the next day; `every` is in whole seconds.
    """

    every: timedelta
    opens: time
    closes: time
    weekdays: int = EVERY_WEEKDAY
    gap: Gap = Gap.NEXT_VALID
    fold: Fold = Fold.FIRST

    @property
    def pattern(self) -> Pattern:
        """The walls that match."""
        return within(self.opens, self.closes, self.every, self.weekdays)

    @property
    def effective_gap(self) -> Gap:
        """The gap policy that counts."""
        return self.gap

    @property
    def effective_fold(self) -> Fold:
        """The fold policy that counts."""
        return self.fold


@dataclass(frozen=True, slots=True)
class Interval(Shared):
    """Instants `anchor + n x every`; the zone is for display and calendars."""

    every: timedelta
    anchor: datetime = EPOCH


@dataclass(frozen=True, slots=True)
class Once(Shared):
    """One instant."""

    at: datetime


@dataclass(frozen=True, slots=True)
class AfterCompletion(Shared):
    """A first slot, then each one `gap` after its predecessor's run has finished, however that ended; without a gap it is the only one."""

    gap: timedelta | None


@dataclass(frozen=True, slots=True)
class Plugin(Shared):
    """Slots that a registered class yields; `parameters` are what it was made with."""

    name: str
    parameters: Mapping[str, Any]
    source: SlotSource = field(compare=False, repr=False)


Local = Cron | Daily | Within
Rule = Local | Interval | Once | AfterCompletion | Plugin
