"""Calendars as the API shows them, and as it takes them."""

from datetime import date, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field

from headway.api.definition_views import Like, WindowDocument
from headway.api.inputs import Asked, Text
from headway.store.ics import MOST_YEARS
from headway.store.tx import Row

FACTS: Final = ("id", "tenant", "version", "resolved", "created_at", "updated_at")


class CalendarDocument(BaseModel):
    """A calendar as somebody wants it."""

    name: str
    description: str = ""
    windows: list[Annotated[dict[str, Any], Like(WindowDocument)]] = Field(min_length=1, max_length=500)


class CalendarsDocument(BaseModel):
    """Calendars that are saved together or not at all."""

    calendars: list[CalendarDocument]


class Calendar(CalendarDocument):
    """A calendar that is kept; sent back with a change it is an update.  `resolved` has the dates of its holidays, by year."""

    tenant: str
    version: int
    resolved: dict[str, dict[str, list[date]]]
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, row: Row) -> "Calendar":
        """Show a row of `headway.store.calendars`."""
        return cls.model_validate({name: row[name] for name in cls.model_fields})


class CalendarPage(BaseModel):
    """A page of calendars by name; `next_cursor` is null on the last one."""

    items: list[Calendar]
    next_cursor: str | None


class CalendarChange(BaseModel):
    """What a save made of one calendar; `change` is empty where nothing changed."""

    name: str
    version: int
    change: Literal["", "created", "updated", "deleted"]


class CalendarChanges(BaseModel):
    """What a save made of several calendars, in their order; a dry run says what it would have made."""

    changes: list[CalendarChange]
    dry_run: bool = False


class IcsRequest(Asked):
    """An iCalendar file, what its windows do, and for how many years its recurrences are followed, the current one included."""

    ics: str
    policy: Literal["skip", "defer"] = "skip"
    zone: Annotated[Text, Field(description="Whose clock the windows show; empty: the file's own.")] = ""
    years: Annotated[int, Field(ge=1, le=MOST_YEARS)] = 5
