"""Whether each slot of a schedule has exactly one decision."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from headway.api.edge import Route
from headway.api.inputs import Instant, Narrowed
from headway.api.platform import Here, Who
from headway.core.errors import NotFound
from headway.core.proof import ledger
from headway.store import in_force, proof, schedules

router = APIRouter(prefix="/v1/schedules", tags=["schedules"], route_class=Route)


class Period(Narrowed):
    """The slots that are looked at: behind `from`, up to `to`; all that are decided when neither is given."""

    from_: Annotated[Instant | None, Field(alias="from")] = None
    to: Instant | None = None


class Finding(BaseModel):
    """One thing that is wrong, and the instant that it is about."""

    kind: str
    at: datetime
    words: str

    @classmethod
    def of(cls, found: ledger.Finding) -> "Finding":
        """Show a finding."""
        return cls(kind=found.kind.value, at=found.at, words=found.words)


class Backfilled(BaseModel):
    """A slot that was filled in afterwards, and by which run."""

    slot_at: datetime
    run: UUID


class Proof(BaseModel):
    """What holds of a period's slots: `expected` by the versions in force, decided singly or in ranges, and what is wrong.

    `next_from` says where a long period goes on; `differences` are what other zone data explains, they break nothing.
    """

    schedule: UUID
    holds: bool
    from_at: datetime
    to_at: datetime
    decided_until: datetime
    next_from: datetime | None
    expected: int
    slots: int
    ranges: int
    slots_in_ranges: int
    broken: int
    findings: list[Finding]
    differences: list[Finding]
    remarks: list[str]
    backfilled: list[Backfilled]

    @classmethod
    def of(cls, schedule: UUID, proven: proof.Proven) -> "Proof":
        """Show a proof."""
        found = proven.proof
        return cls(
            schedule=schedule,
            holds=found.holds,
            from_at=found.after,
            to_at=found.until,
            decided_until=proven.decided_until,
            next_from=proven.next_from,
            expected=found.expected,
            slots=found.singles,
            ranges=found.spans,
            slots_in_ranges=found.spanned,
            broken=found.broken,
            findings=[Finding.of(one) for one in found.findings],
            differences=[Finding.of(one) for one in found.differences],
            remarks=list(found.remarks),
            backfilled=[Backfilled.model_validate(dict(row)) for row in proven.backfilled],
        )


@router.get("/{schedule_id}/proof")
async def prove_slots(schedule_id: UUID, period: Annotated[Period, Query()], here: Here, who: Who) -> Proof:
    """Prove that every expected slot has one decision and that no other has any, of a deleted schedule too."""
    async with here.database.begin() as tx:
        row = await schedules.get(tx, schedule_id, who.tenant)
        known = await in_force.history(tx, schedule_id)
        if known is None or (row is None and known.tenant != who.tenant):
            raise NotFound(f"schedule: there is no schedule {schedule_id}")
        return Proof.of(schedule_id, await proof.prove(tx, schedule_id, known, after=period.from_, until=period.to))
