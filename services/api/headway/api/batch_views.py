"""Batches as requests ask for them and as the API shows them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import orjson
from pydantic import BaseModel, Field

from headway.api.asking import RunItem
from headway.api.inputs import Asked, Correlation, Delay, Instant, Key, Text
from headway.api.run_views import Run, StateName, state_name
from headway.core.batch import MOST_CHILDREN, MOST_CONCURRENT, Counts, percent, told
from headway.core.outcome import RunOutcome
from headway.core.parameters import merged
from headway.store.tx import Row

Definition = Annotated[Text, Field(min_length=1, max_length=128)]


class ChildItem(Asked):
    """One child that is wanted; `definition` is the parent's if it is left out, `params` stand over those of the parent."""

    definition: Definition | None = None
    params: dict[str, Any] | None = None
    priority: Annotated[int, Field(ge=0, le=9)] | None = None
    at: Instant | None = None
    delay: Delay | None = None
    correlation: Correlation | None = None

    def item(self, definition: str, inherited: Mapping[str, Any] | None) -> RunItem:
        """Return the run that the child is; at beside delay is refused with the other problems of the batch."""
        own = self.model_dump(exclude={"definition", "params"})
        params = merged(inherited, self.params) or None
        return RunItem.model_construct(definition=self.definition or definition, params=params, **own)


class AppendRequest(Asked):
    """Children that are wanted, all of them or none."""

    children: Annotated[list[ChildItem], Field(min_length=1, max_length=MOST_CHILDREN)]
    key: Key | None = None


class BatchRequest(Asked):
    """A batch that is wanted: children under a parent whose definition and parameters they inherit.

    One that is not `closed` takes more children later.  At most `max_concurrent` children are let in at a time, 0 is no limit.  `mixed`
    says what successes beside failures make.  `counted` children of the parent's own definition count against its limit of concurrent
    runs.  With `triggers` the end of each child fires triggers.
    """

    definition: Definition
    params: dict[str, Any] | None = None
    priority: Annotated[int, Field(ge=0, le=9)] | None = None
    key: Key | None = None
    correlation: Correlation | None = None
    children: Annotated[list[ChildItem], Field(max_length=MOST_CHILDREN)] = Field(default_factory=list)
    closed: bool = True
    max_concurrent: Annotated[int, Field(ge=0, le=MOST_CONCURRENT)] = 0
    mixed: Literal["worst", "partial"] = "worst"
    counted: bool = False
    triggers: bool = False


class BatchAccepted(BaseModel):
    """The answer to a request for a batch: one that is new, or the existing one of a known key.  `id` is its parent's."""

    id: UUID
    definition: str
    total: int
    existing: bool = False


class ChildrenAccepted(BaseModel):
    """The answer to an append: the index of the first child, how many were appended, and how many children the batch has."""

    id: UUID
    first: int
    added: int
    total: int
    existing: bool = False


class BatchProgress(BaseModel):
    """How far a batch is: per cent, and in words."""

    percent: int
    message: str


class Batch(BaseModel):
    """A batch.  `outcomes` has how many children ended in which way, `waiting` how many are held for their turn; a listing has neither."""

    id: UUID
    tenant: str
    definition: str
    state: StateName
    outcome: str | None
    reason: str | None
    total: int
    done: int
    progress: BatchProgress
    outcomes: dict[str, int] | None = None
    waiting: int | None = None
    closed: bool
    max_concurrent: int
    mixed: Literal["worst", "partial"]
    counted: bool
    triggers: bool
    opened_by: UUID | None
    created_at: datetime
    created_by: str
    ended_at: datetime | None
    cancel_requested_at: datetime | None
    cancel_by: str | None

    @classmethod
    def of(cls, row: Row, parent: Row, counts: Counts | None = None, waiting: int | None = None) -> "Batch":
        """Show a row of `headway.store.batches` with the run of its parent."""
        done, total = row["done"], row["total"]
        shown = {
            "id": row["parent"],
            "definition": parent["definition"],
            "state": state_name(parent["state"]),
            "outcome": RunOutcome(parent["outcome"]).name.lower() if parent["outcome"] is not None else None,
            "progress": {"percent": percent(done, total), "message": told(done, total)},
            "outcomes": _outcomes(parent, counts),
            "waiting": waiting,
            **{name: parent[name] for name in ("reason", "cancel_requested_at", "cancel_by")},
        }
        return cls.model_validate({name: shown[name] if name in shown else row[name] for name in cls.model_fields})


class BatchPage(BaseModel):
    """A page of batches, newest first; `next_cursor` is null on the last one."""

    items: list[Batch]
    next_cursor: str | None


class ChildPage(BaseModel):
    """A page of children in the order of their index; `next_cursor` is null on the last one."""

    items: list[Run]
    next_cursor: str | None


def items_of(children: Sequence[ChildItem], definition: str, inherited: Mapping[str, Any] | None, correlation: str | None) -> list[RunItem]:
    """Return the runs that children are, under the correlation id of the request if they have none."""
    items = [child.item(definition, inherited) for child in children]
    return [one if one.correlation or not correlation else one.model_copy(update={"correlation": correlation}) for one in items]


def _outcomes(parent: Row, counts: Counts | None) -> dict[str, int] | None:
    """What an ended parent says of its children stays when their rows are gone."""
    if counts is None:
        return None
    if parent["result"] is not None:
        told: dict[str, int] = orjson.loads(parent["result"])["outcomes"]
        return told
    return {outcome.name.lower(): counts[outcome] for outcome in RunOutcome if counts.get(outcome)}
