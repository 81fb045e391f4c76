"""Calendars as somebody wants them: named ones that are kept for themselves, and inline ones that a definition or schedule carries."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Any, Final

from headway.core.calendar.coverage import blocks_everything
from headway.core.calendar.reading import read_windows
from headway.core.calendar.window import Calendar, Window
from headway.core.calendar.writing import window_document
from headway.core.errors import Problem
from headway.core.reading import Reader, demand

INLINE: Final = "inline:"
_DIGITS: Final = 24


@dataclass(frozen=True, slots=True)
class CalendarDraft:
    """A calendar that is to be kept under a name."""

    name: str
    windows: Sequence[Window]
    description: str = ""
    tenant: str = ""

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The windows as a row holds them."""
        return [window_document(window) for window in self.windows]


def parse_calendar_draft(document: Any, *, path: str = "", tenant: str = "") -> CalendarDraft:
    """Return the draft of `{name, description, windows: [...]}`.  Raises Invalid with every problem, each with its path."""
    problems: list[Problem] = []
    draft = _draft(Reader.of(document, path, problems), tenant)
    demand(problems)
    return draft


def parse_calendar_drafts(document: Any, *, tenant: str = "") -> list[CalendarDraft]:
    """Return the drafts of `{calendars: [...]}`.  Raises Invalid with every problem of the whole document."""
    problems: list[Problem] = []
    reader = Reader.of(document, "", problems)
    found = [_draft(Reader.of(one, f"calendars[{index}]", problems), tenant) for index, one in enumerate(reader.items("calendars"))]
    if not found and not problems:
        reader.wrong("calendars", "is required and must name at least one calendar")
    reader.finish()
    times = Counter(draft.name for draft in found if draft.name)
    problems += [Problem("calendars", f"{name} is named twice") for name in sorted(times) if times[name] > 1]
    demand(problems)
    return found


def read_inline(reader: Reader) -> tuple[Window, ...]:
    """Return the windows of a document's own `calendar: {windows: [...]}`, none when it has no such field; notes every problem."""
    document = reader.take("calendar")
    if document is None:
        return ()
    inner = Reader.of(document, reader.at("calendar"), reader.problems)
    windows = read_windows(inner, "windows")
    inner.finish()
    return windows


def inline_draft(windows: Sequence[Window], tenant: str = "") -> CalendarDraft:
    """Return the calendar of inline windows: the same windows have the same name, wherever they stand."""
    text = json.dumps([window_document(window) for window in windows], sort_keys=True, separators=(",", ":"))
    return CalendarDraft(f"{INLINE}{sha256(text.encode()).hexdigest()[:_DIGITS]}", tuple(windows), tenant=tenant)


def coverage_problems(draft: CalendarDraft, since: date) -> list[Problem]:
    """Say what is wrong with a calendar that leaves no time in the eight years from a day on."""
    if not blocks_everything(Calendar(draft.name, windows=draft.windows), since):
        return []
    field = "calendar" if draft.name.startswith(INLINE) else "windows"
    return [Problem(field, "leave no time at all: nothing that uses the calendar could ever run; leave some time between the windows")]


def _draft(reader: Reader, tenant: str) -> CalendarDraft:
    name = reader.name("name")
    if name.startswith(INLINE):
        reader.wrong("name", f"must not begin with {INLINE}, as the names of inline calendars do")
    draft = CalendarDraft(name, read_windows(reader, "windows"), reader.text("description", limit=4000), tenant)
    reader.finish()
    return draft
