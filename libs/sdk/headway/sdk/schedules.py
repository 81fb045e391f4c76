"""Rules for when a job runs, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict, Unpack


class ScheduleOptions(TypedDict, total=False):
    """What every schedule may say beside its rule."""

    name: str
    params: Any
    zone: str
    starts_at: datetime
    ends_at: datetime
    overlap: Literal["skip", "delay", "allow", "cancel_previous"]
    misfire: Literal["skip", "run_once", "run_all"]
    description: str
    owner: str
    allowed_delay: timedelta
    retry_horizon: timedelta
    completion_target: timedelta
    enabled: bool


class CronOptions(ScheduleOptions, total=False):
    """What a cron schedule may say: what becomes of a local time that a clock change removes or repeats."""

    gap: Literal["skip", "next_valid", "shift_forward"]
    fold: Literal["first", "second", "both"]


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


def cron(expression: str, **options: Unpack[CronOptions]) -> When:
    """Local times of `zone` (UTC) that match five cron fields, or six with the seconds in front."""
    return When({"cron": expression, **options})


def every(period: timedelta | str, **options: Unpack[IntervalOptions]) -> When:
    """Instants that are a multiple of `period` away from `anchor` (1970); at least 200 ms, such as `timedelta(minutes=5)` or `5m`."""
    return When({"every": period, **options})
