"""Triggers as the API shows them, and as it takes them."""

from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from headway.core.secret import masked
from headway.store.tx import Row

FACTS: Final = frozenset({"id", "tenant", "version", "declared", "overridden", "created_at", "updated_at"})
Operator = Literal[
    "equals",
    "not_equals",
    "contains",
    "not_contains",
    "starts_with",
    "not_starts_with",
    "ends_with",
    "not_ends_with",
    "greater",
    "less",
    "greater_or_equal",
    "less_or_equal",
    "in",
    "not_in",
    "regex",
    "not_regex",
]


class ConditionDocument(BaseModel):
    """A value of the run's result by its dotted name, or its outcome by the key Result, compared."""

    key: str
    operator: Operator = "equals"
    value: Any


class TriggerDocument(BaseModel):
    """A trigger of a definition: when a run of it has ended so, a run of the target is asked for."""

    name: str = Field("", description="Empty: that of the target.")
    target: str
    condition: ConditionDocument | None = Field(None, description="Null: every run that succeeded.")
    parameters: dict[str, Any] = Field({}, description="They win over the target's own, and may hold templates such as {TriggeredBy.Id}.")
    description: str = ""
    enabled: bool = True


class SourcedTrigger(TriggerDocument):
    """A trigger, and the definition whose runs fire it."""

    source: str


class TriggersDocument(BaseModel):
    """Triggers that are saved together or not at all."""

    triggers: list[SourcedTrigger]


class Trigger(SourcedTrigger):
    """A trigger that is kept."""

    id: UUID
    tenant: str
    version: int
    declared: str = Field(description="Where it was declared: api or code.")
    overridden: list[str] = Field(description="Fields that were set here over what code declares.")
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: Row) -> "Trigger":
        """Show a row of `headway.store.triggers`; secrets are masked, and saved again they stay what they are."""
        return cls.model_validate(
            {**row, "source": row["source_name"], "target": row["target_name"], "parameters": masked(row["parameters"])}
        )


class TriggerPage(BaseModel):
    """A page of triggers in the order in which they were made; `next_cursor` is null on the last one."""

    items: list[Trigger]
    next_cursor: str | None


class TriggerChange(BaseModel):
    """What a save made of one trigger; `change` is empty where nothing changed."""

    id: UUID
    source: str
    name: str
    version: int
    change: Literal["", "created", "updated", "enabled", "disabled", "deleted"]


class TriggerChanges(BaseModel):
    """What a save made of several triggers, in their order; a dry run says what it would have made."""

    changes: list[TriggerChange]
    dry_run: bool = False
