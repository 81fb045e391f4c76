"""Rules for when a job runs, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict, Unpack


class ScheduleOptions(TypedDict, total=False):
    """What every schedule may say beside its rule.

    `calendars` are names, `calendar` is a document `{"windows": [...]}` of its own; without both it goes by those of the job.
    """

    name: str
    params: Any
    zone: str
    starts_at: datetime
    ends_at: datetime
    jitter: timedelta
    overlap: Literal["skip", "delay", "allow", "cancel_previous"]
    overlap_max: int
    misfire: Literal["skip", "run_once", "run_all"]
    misfire_max_age: timedelta
    misfire_limit: int
    calendars: Sequence[str]
    calendar: Mapping[str, Any]
    payload: str
    description: str
    owner: str
    allowed_delay: timedelta
    retry_horizon: timedelta
    completion_target: timedelta
    enabled: bool


class LocalOptions(ScheduleOptions, total=False):
    """What a schedule of local times may say: what becomes of a local time that a clock change removes or repeats."""

    gap: Literal["skip", "next_valid", "shift_forward"]
    fold: Literal["first", "second", "both"]


class DailyOptions(LocalOptions, total=False):
    """What set times of day may say: the weekdays and months on which they count."""

    weekdays: Sequence[str | int]
    months: Sequence[str | int]


class WindowOptions(LocalOptions, total=False):
    """What an interval inside of a daily window may say: the weekdays on which the window opens."""

    weekdays: Sequence[str | int]


class IntervalOptions(ScheduleOptions, total=False):
    """What an interval may say: an instant at which it fires."""

    anchor: datetime


@dataclass(frozen=True, slots=True)
class When:
    """A rule with its options; `params` are the parameters of the runs that it makes."""

    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def params(self) -> Any:
        """The parameters, None for none."""
        return self.options.get("params")

    def named(self, name: str | None) -> "When":
        """Return the same rule under another name; None keeps it."""
        return self if name is None else When({**self.options, "name": name})

    def document(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a definitions document says of it, with its parameters as JSON has them."""
        return {name: value for name, value in self.options.items() if name != "params"} | {"parameters": parameters}


def cron(expression: str, **options: Unpack[LocalOptions]) -> When:
    """Local times of `zone` (UTC) that match five cron fields, or six with the seconds in front."""
    return When({"cron": expression, **options})


def every(period: timedelta | str, **options: Unpack[IntervalOptions]) -> When:
    """Instants that are a multiple of `period` away from `anchor` (1970); at least 200 ms, such as `timedelta(minutes=5)` or `5m`."""
    return When({"every": period, **options})


def daily(*times: str, **options: Unpack[DailyOptions]) -> When:
    """Local times of day, such as `daily("07:00", "19:30", weekdays=["mon", "fri"], zone="Europe/Berlin")`."""
    return When({"times": list(times), **options})


def within(period: timedelta | str, begin: str, end: str, **options: Unpack[WindowOptions]) -> When:
    """Local times from `begin` on, every `period`, before `end`; an end at or before the beginning is on the next day."""
    return When({"every": period, "from": begin, "to": end, **options})


def once(at: datetime, **options: Unpack[ScheduleOptions]) -> When:
    """One instant."""
    return When({"at": at, **options})


def after_completion(gap: timedelta | str, **options: Unpack[ScheduleOptions]) -> When:
    """At once, then `gap` after each end of a run, whether it succeeded or failed; `never` means only the first time."""
    return When({"after_completion": gap, **options})


def plugin(kind: str, parameters: Mapping[str, Any] | None = None, **options: Unpack[ScheduleOptions]) -> When:
    """Slots of a registered class (`headway.core.schedule.plugins.register`), with the parameters that it is stored with."""
    return When({"plugin": kind, "plugin_parameters": dict(parameters or {}), **options})
