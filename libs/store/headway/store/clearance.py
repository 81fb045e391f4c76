"""What keeps slots from firing beside their own schedule: active runs of definitions that theirs is restricted with, and its breaker."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import Uuid, func, select

from headway.core.breaker import BreakerState
from headway.core.slot import Decision, Start
from headway.store import gates, limits
from headway.store.known import Known
from headway.store.limits import Facts
from headway.store.schema import breaker, definition
from headway.store.statement import array, statement
from headway.store.tx import Row, Tx

BREAKERS: Final = statement(
    "clearance_breakers",
    select(breaker, definition.c.name)
    .join(definition, definition.c.id == breaker.c.definition)
    .where(breaker.c.definition == func.any(array("definitions", Uuid))),
)


class Clearance:
    """Says of definitions what is in the way of their next run, while their gates are taken; each slot that fires is told to it."""

    def __init__(self, facts: Facts, breakers: Mapping[UUID, Row]) -> None:
        self._facts = facts
        self._breakers = breakers
        self._fired: dict[UUID, str] = {}

    def restricted_by(self, definition: UUID) -> str:
        """The active run of a definition that this one must not be active together with; empty when there is none."""
        for partner in sorted(self._facts.partners.get(definition, ())):
            if run := self._active(partner):
                return f"{run} is active, and the two must not be together"
        # A partner that is not among the facts cannot be looked at: it counts as active, as it does for admit.
        return "a restriction has just been made" if self._restricting(definition) else ""

    def breaker(self, definition: UUID) -> str:
        """What the breaker of a definition has against a run; empty when it lets one through."""
        row = self._breakers.get(definition)
        match self._state(definition):
            case BreakerState.OPEN if row is not None:
                probe = f"; next probe at {row['reopen_at'].isoformat()}" if row["reopen_at"] else ""
                return f"the breaker of {row['name']!r} is open since {row['since'].isoformat()}, after {row['failures']} failures{probe}"
            case BreakerState.HALF_OPEN if row is not None and (run := self._active(definition)):
                return f"the breaker of {row['name']!r} is half-open, and {run} probes it"
            case _:
                return ""

    def fired(self, known: Known, slot_at: datetime, decision: Decision, now: datetime) -> None:
        """Note a decision: a run that may start now stands in the way of those decided behind it."""
        if decision.fires and decision.start is Start.DUE and decision.effective_at <= now:
            self._fired[known.definition_id] = f"the run of slot {slot_at.isoformat()} of {known.definition!r}"

    def _active(self, definition: UUID) -> str:
        holder = self._facts.holders.get(definition)
        return f"run {holder.run} of {holder.name!r}" if holder else self._fired.get(definition, "")

    def _restricting(self, definition: UUID) -> bool:
        return definition in self._facts.usage and self._facts.usage[definition].restricting > 0

    def _state(self, definition: UUID) -> BreakerState:
        return self._facts.limits[definition].breaker if definition in self._facts.limits else BreakerState.CLOSED


async def clearance(tx: Tx, rows: Collection[Row]) -> Clearance:
    """Take the gates of the definitions behind `advance.facts` and say what is in the way; for none that is guarded it does nothing."""
    if not any(row["guarded"] for row in rows):
        return Clearance(Facts({}, {}, {}, {}), {})
    # All gates at once, for admit takes those of the runs that fire: one after another they could deadlock.
    tied = await gates.lock(tx, {row["definition_id"] for row in rows if row["gated"]})
    facts = await limits.read(tx, sorted({row["definition_id"] for row in rows if row["guarded"]}), tied)
    tripped = sorted(id_ for id_, one in facts.limits.items() if one.breaker is not BreakerState.CLOSED)
    return Clearance(facts, {row["definition"]: row for row in await tx.fetch(BREAKERS, definitions=tripped)} if tripped else {})
