"""What applying a document would change, field by field: the apply itself, read before and after, and then undone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from pydantic import BaseModel, Field

from headway.api.documents import document_of
from headway.api.platform import Caller
from headway.api.saving import perform
from headway.core.definition import DefinitionDraft
from headway.core.difference import Difference, differences
from headway.store import catalogue, definitions, schedules
from headway.store.definitions import Saved
from headway.store.tx import Database, Row, Tx

CALENDARS: Final = ("calendars", "calendar")


class FieldDifference(BaseModel):
    """A field by its path, such as schedules.nightly.cron: as it is kept, and as the document wants it; null where there is none."""

    path: str
    kept: Any = None
    wanted: Any = None
    secret: bool = Field(description="Both are secrets, and differ.")
    overridden: bool = Field(description="What is kept was set here, over what code declares.")


class DefinitionDifference(BaseModel):
    """What a document would make of one definition; `version` is that of what is kept, null where there is nothing."""

    name: str
    version: int | None
    change: Literal["created", "changed", "unchanged"]
    overridden: list[str] = Field(description="Fields that were set here over what code declares, whether they differ or not.")
    fields: list[FieldDifference] = Field(description="Empty for a definition that is new.")


class Differences(BaseModel):
    """What a document would make of each of its definitions, in their order."""

    definitions: list[DefinitionDifference]


class _Kept(NamedTuple):
    version: int
    document: Mapping[str, Any]
    overridden: Sequence[str]


async def compare(database: Database, drafts: Sequence[DefinitionDraft], who: Caller) -> Differences:
    """Return what saving these drafts would change.  Raises what saving them would raise."""

    async def save(tx: Tx) -> Differences:
        before = {name: await _kept(tx, name, who) for name in sorted(draft.name for draft in drafts)}
        saved = await catalogue.save_all(tx, drafts, actor=who.actor)
        asked = [(one, before[one.name], await _kept(tx, one.name, who)) for one in saved if one.name in before]
        return Differences(definitions=[_compared(*one) for one in asked])

    return await perform(database, save, dry_run=True)


async def _kept(tx: Tx, name: str, who: Caller) -> _Kept | None:
    row = await definitions.lock(tx, name, who.tenant)
    if row is None:
        return None
    mine = [one for one in await schedules.of_definition(tx, row["id"]) if one["tenant"] == who.tenant]
    # Secrets as they are kept, for stars do not tell whether they differ.
    document = document_of(row, mine, parameters=dict)
    return _Kept(row["version"], document, sorted(_overridden(row, document, mine)))


def _overridden(row: Row, document: Mapping[str, Any], mine: Iterable[Row]) -> Iterable[str]:
    """The paths of the fields that an operator set; some columns stand for several fields, and some for none."""
    yield from _fields(row["overridden"], document, {"calendars": CALENDARS})
    for schedule, one in zip(mine, document["schedules"], strict=True):
        several = {"calendars": CALENDARS, "rule": tuple(schedule["rule"])}
        yield from (f"schedules.{one['name']}.{field}" for field in _fields(schedule["overridden"], one, several))


def _fields(columns: Iterable[str], document: Mapping[str, Any], several: Mapping[str, Sequence[str]]) -> Iterable[str]:
    return [field for column in columns for field in several.get(column, [column]) if field in document]


def _compared(saved: Saved, before: _Kept | None, after: _Kept | None) -> DefinitionDifference:
    if before is None or after is None:
        return DefinitionDifference(name=saved.name, version=None, change="created", overridden=[], fields=[])
    found = [_field(one, before.overridden) for one in differences(before.document, after.document)]
    change: Literal["changed", "unchanged"] = "changed" if saved.change else "unchanged"
    return DefinitionDifference(name=saved.name, version=before.version, change=change, overridden=list(before.overridden), fields=found)


def _field(one: Difference, overridden: Sequence[str]) -> FieldDifference:
    set_here = any(one.path == path or one.path.startswith(f"{path}.") for path in overridden)
    return FieldDifference(**one._asdict(), overridden=set_here)
