"""Slots as the API shows them."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel

from headway.core.slot import DecisionKind
from headway.store.tx import Row

DecisionName = Literal["fired", "deferred", "skipped"]


class Slot(BaseModel):
    """What was decided of one slot."""

    slot_at: datetime
    decision: DecisionName
    reason: str
    detail: str
    effective_at: datetime
    run: UUID | None
    decided_at: datetime
    decided_by: str
    schedule_version: int
    calendar_versions: str
    tzdata_version: str

    @classmethod
    def of(cls, row: Row) -> "Slot":
        """Show a row of `headway.store.slots`."""
        return cls.model_validate({**row, "decision": DecisionKind(row["decision"]).name.lower()})


class SlotRange(BaseModel):
    """One decision for every slot of a stretch, its beginning excluded and its end included."""

    from_at: datetime
    to_at: datetime
    decision: DecisionName
    reason: str
    detail: str
    slots: int | None
    decided_at: datetime
    decided_by: str
    schedule_version: int
    calendar_versions: str
    tzdata_version: str

    @classmethod
    def of(cls, row: Row) -> "SlotRange":
        """Show a row of `headway.store.slots`."""
        return cls.model_validate({**row, "decision": DecisionKind(row["decision"]).name.lower()})


class SlotPage(BaseModel):
    """A page of decided slots, newest first; the first page also has the newest stretches that were decided as one."""

    items: list[Slot]
    ranges: list[SlotRange]
    next_cursor: str | None
