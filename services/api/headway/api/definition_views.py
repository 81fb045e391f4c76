"""Definitions and schedules as the API shows them, and as it takes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from headway.api.documents import document_of, schedule_document_of
from headway.api.run_views import Run
from headway.api.trigger_views import Trigger, TriggerDocument
from headway.store.tx import Row

Span = str | float | None
_FACTS: Final = ("id", "tenant", "version", "source", "overridden", "paused_at", "created_at", "updated_at")
_SCHEDULE_FACTS: Final = (
    "id",
    "tenant",
    "version",
    "source",
    "decided_until",
    "chained_at",
    "broken",
    "paused_at",
    "paused_by",
    "paused_reason",
    "created_at",
    "updated_at",
)
Overlap = Literal["skip", "delay", "allow", "cancel_previous"]


@dataclass(frozen=True)
class Like:
    """Marks a body that `headway.core.draft` reads, so that its contract shows this model; the model itself checks nothing."""

    model: type[BaseModel]

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return the model's schema in the place of a mapping's."""
        return handler(self.model.__pydantic_core_schema__)


class DateRange(BaseModel):
    """Days from one to another, both included; without `to` the one day."""

    from_: str = Field(alias="from")
    to: str | None = None


class WindowDocument(BaseModel):
    """A window: the days that it is open on, by one of four, its local times (whole days without), and what it does to a slot."""

    weekdays: list[str | int] | None = None
    dates: DateRange | None = None
    month_days: list[int | Literal["last"]] | None = None
    holiday: str | None = Field(None, description="A holiday such as US:labor-day or DE-BE:labor-day.")
    start: str | None = None
    end: str | None = None
    all_day: bool | None = None
    policy: Literal["skip", "defer"] = "skip"


class InlineCalendar(BaseModel):
    """Windows that belong to what carries them."""

    windows: list[Annotated[dict[str, Any], Like(WindowDocument)]]


class ScheduleDocument(BaseModel):
    """A schedule as somebody wants it: a rule of one kind, in a zone, and what becomes of slots that are late or meet open runs."""

    name: str = "default"
    description: str = ""
    owner: str = ""
    cron: str | None = None
    every: Span = None
    anchor: datetime | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    times: list[str] | None = None
    weekdays: list[str | int] | None = None
    months: list[str | int] | None = None
    at: datetime | None = None
    after_completion: Span = None
    plugin: str | None = None
    plugin_parameters: dict[str, Any] | None = None
    jitter: Span = None
    zone: str = "UTC"
    gap: Literal["skip", "next_valid", "shift_forward"] | None = None
    fold: Literal["first", "second", "both"] | None = None
    starts_at: datetime | None = None
    ends_at: datetime | None = None
    misfire: Literal["skip", "run_once", "run_all"] = "skip"
    misfire_max_age: Span = "1d"
    misfire_limit: int = 100
    overlap: Overlap = "skip"
    overlap_max: int = 2
    calendars: list[str] | None = Field(None, description="Names of calendars; null, without a calendar of its own: the definition's.")
    calendar: InlineCalendar | None = None
    parameters: dict[str, Any] = {}
    payload: str = ""
    allowed_delay: Span = None
    retry_horizon: Span = None
    completion_target: Span = None
    enabled: bool = True


class Schedule(ScheduleDocument):
    """A schedule that is kept; every slot up to `decided_until` is decided."""

    id: UUID
    definition: str
    tenant: str
    source: str
    version: int
    decided_until: datetime
    chained_at: datetime | None
    broken: str | None
    paused_at: datetime | None
    paused_by: str
    paused_reason: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: Row, definition: str) -> "Schedule":
        """Show a row of `headway.store.schedules`."""
        facts = {name: row[name] for name in _SCHEDULE_FACTS}
        return cls.model_validate({**facts, **schedule_document_of(row), "definition": definition})


class SchedulePage(BaseModel):
    """A page of schedules; `next_cursor` is null on the last one."""

    items: list[Schedule]
    next_cursor: str | None


class BackoffDocument(BaseModel):
    """How long a run waits before it is tried again."""

    kind: Literal["fixed", "linear", "exponential", "list"] = "linear"
    base: Span = None
    factor: float = 2.0
    cap: Span = None
    jitter: float = 0.0
    delays: list[Span] = []


class WatchDocument(BaseModel):
    """What is watched about a definition; 0 or null is off."""

    breaker_threshold: int = 0
    breaker_reset: Span = "5m"
    alert_after: int = 1
    alert_url: str = ""
    expected_duration: Span = None
    must_start_by: Span = None
    heartbeat_monitored: bool = True
    heartbeat_tolerance: Span = None
    heartbeat_factor: float = 2.0
    heartbeat_grace: Span = "1m"


class DefinitionFields(BaseModel):
    """What a definition says, its schedules aside."""

    name: str
    handler: str = Field("", description="The handler's name; empty: the definition's own.")
    description: str = ""
    owner: str = ""
    queue: str = "default"
    priority: int = Field(0, ge=0, le=9)
    timeout: Span = Field("0s", description="Longest time that one attempt may take; 0 takes the platform's limit.")
    attempts: int = 1
    backoff: BackoffDocument | None = None
    retry_horizon: Span = None
    start_by: Span = Field(None, description="How long after it was due a run may start at the latest; then it is skipped.")
    parameters: dict[str, Any] = {}
    parameter_spec: dict[str, Any] | None = Field(None, description="JSON Schema that a run's parameters are held to.")
    restartable: bool = True
    allow_triggers: bool = True
    max_concurrent_runs: int = 0
    max_runs_per_hour: int = 0
    over_limit: Literal["hold", "refuse"] = "hold"
    retention_days: int = Field(30, description="Days that finished runs are kept; 0: for ever.")
    overlap: Overlap = "skip"
    watch: WatchDocument | None = None
    calendars: list[str] = Field([], description="Names of calendars for schedules that name none.")
    calendar: InlineCalendar | None = None
    restrictions: list[str] | None = Field(None, description="Definitions that it must not be active together with; null: as they stand.")
    enabled: bool = True


class DefinitionDocument(DefinitionFields):
    """A definition as somebody wants it, with all its schedules and triggers."""

    schedules: list[ScheduleDocument] = []
    triggers: list[TriggerDocument] | None = Field(None, description="Triggers that its runs fire; null: those that stand stay.")


class DefinitionsDocument(BaseModel):
    """Definitions that are saved together or not at all."""

    definitions: list[DefinitionDocument]


class DefinitionSummary(DefinitionFields):
    """A definition that is kept, without its schedules."""

    id: UUID
    tenant: str
    version: int
    source: str = Field(description="Where it was declared: api or code.")
    overridden: list[str] = Field(description="Fields that were set here over what code declares.")
    paused_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: Row) -> "DefinitionSummary":
        """Show a row of `headway.store.definitions`."""
        return cls.model_validate(_facts(row) | document_of(row, []))


class Definition(DefinitionSummary):
    """A definition that is kept, with its schedules and triggers; sent back with a change it is an update."""

    schedules: list[Schedule]
    triggers: list[Trigger]

    @classmethod
    def whole(cls, row: Row, schedules: Sequence[Row], triggers: Sequence[Row]) -> "Definition":
        """Show a definition's row with those of its schedules and triggers."""
        children = {"schedules": [Schedule.of(one, row["name"]) for one in schedules], "triggers": [Trigger.of(one) for one in triggers]}
        return cls.model_validate(_facts(row) | document_of(row, []) | children)


class DefinitionPage(BaseModel):
    """A page of definitions by name; `next_cursor` is null on the last one."""

    items: list[DefinitionSummary]
    next_cursor: str | None


class Change(BaseModel):
    """What a save made of one definition; `change` is empty where nothing changed."""

    name: str
    version: int
    change: Literal["", "created", "updated", "enabled", "disabled", "deleted"]


class Changes(BaseModel):
    """What a save made of several definitions, in their order; a dry run says what it would have made."""

    changes: list[Change]
    dry_run: bool = False


class LatestRuns(BaseModel):
    """The newest run of a definition, and the newest that succeeded and failed."""

    latest: Run | None = None
    succeeded: Run | None = None
    failed: Run | None = None


def _facts(row: Row) -> dict[str, Any]:
    return {name: row[name] for name in _FACTS}
