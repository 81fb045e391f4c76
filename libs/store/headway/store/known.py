"""A schedule as its row tells it: what a decision compares, and what it decides from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple, Self
from uuid import UUID

import orjson

from headway.core.schedule.rule import Rule, parse_rule
from headway.core.schedule.timeline import Timeline
from headway.core.slot import GRACE, Misfire, MisfireKind, Overlap, OverlapKind, ScheduleView
from headway.store.calendars import Kept
from headway.store.tx import Row


def rule_of(stored: Mapping[str, Any]) -> Rule:
    """Return the rule that is stored; equal ones are one object, for many schedules say the same.  Raises Invalid."""
    # What a plug-in makes of its parameters is its own affair: each schedule has its own.
    return parse_rule(stored) if "plugin" in stored else _rule_of(orjson.dumps(stored))


@lru_cache(maxsize=16384)
def _rule_of(text: bytes) -> Rule:
    return parse_rule(orjson.loads(text))


class Manner(NamedTuple):
    """How slots are decided: how late one may be, and whether missed ones are caught up."""

    grace_seconds: float = GRACE.total_seconds()
    catch_up: bool = True


@dataclass(frozen=True, slots=True)
class Known:
    """A schedule as it was read; `version` and `decided_until` are what a decision compares and sets.

    `updated_at` tells whether what it was read with is still all that there is.
    """

    id: UUID
    tenant: str
    name: str
    timeline: Timeline
    version: int
    decided_until: datetime
    definition: str
    definition_id: UUID
    definition_tenant: str
    view: ScheduleView
    calendar_versions: str = ""
    updated_at: datetime | None = None
    allowed_delay: timedelta | None = None

    @classmethod
    def of(cls, row: Row, calendars: Mapping[UUID, Kept]) -> Self:
        """Read a row.  Raises Invalid when its rule cannot be understood."""
        timeline = Timeline(rule_of(row["rule"]), row["chained_at"])
        used = [calendars[id_] for id_ in row["calendars"] or () if id_ in calendars]
        view = ScheduleView(
            row["id"],
            timeline,
            tuple(one.calendar for one in used),
            Misfire(MisfireKind(row["misfire"]), row["misfire_max_age"], row["misfire_limit"]),
            Overlap(OverlapKind(row["overlap"]), row["overlap_max"]),
        )
        return cls(
            row["id"],
            row["tenant"],
            row["name"],
            timeline,
            row["version"],
            row["decided_until"],
            row["definition"],
            row["definition_id"],
            row["definition_tenant"],
            view,
            ", ".join(f"{one.calendar.name} {one.calendar.version}" for one in used),
            row["updated_at"],
            row["allowed_delay"],
        )

    def decided(self, until: datetime, chained_at: datetime | None) -> "Known":
        """The same schedule after everything until an instant has been decided."""
        if chained_at == self.timeline.chained_at:
            return replace(self, decided_until=until)
        timeline = replace(self.timeline, chained_at=chained_at)
        return replace(self, decided_until=until, timeline=timeline, view=replace(self.view, timeline=timeline))
