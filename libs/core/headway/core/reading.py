"""Read a document field by field, gathering every problem with its path instead of stopping at the first."""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from headway.core.document import is_text, problems_of
from headway.core.durations import parse_duration
from headway.core.errors import Invalid, Problem

NAME: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.:/@-]{0,126}[A-Za-z0-9_])?")


class Reader:
    """One mapping of a document.  Each getter names the field, returns a value of its type, and notes a problem when it cannot.

    `finish()` notes the fields that nobody asked for.
    """

    def __init__(self, document: Mapping[str, Any], path: str, problems: list[Problem]) -> None:
        self.document = document
        self.path = path
        self.problems = problems
        self._known: set[str] = set()

    @classmethod
    def of(cls, document: Any, path: str, problems: list[Problem]) -> "Reader":
        """Read something that should be a mapping; anything else is a problem and reads as empty."""
        if isinstance(document, Mapping):
            return cls(document, path, problems)
        problems.append(Problem(path, "must be a mapping"))
        return cls({}, path, problems)

    def at(self, name: str) -> str:
        """The path of a field, as problems name it."""
        return f"{self.path}.{name}" if self.path else name

    def wrong(self, name: str, message: str) -> None:
        """Note a problem with a field."""
        self.problems.append(Problem(self.at(name), message))

    def take(self, name: str) -> Any:
        """Return the raw value of a field, or None."""
        self._known.add(name)
        return self.document.get(name)

    def text(self, name: str, default: str = "", *, required: bool = False, limit: int = 256) -> str:
        """Return text of at most `limit` characters that can be stored."""
        value = self.take(name)
        if value is None:
            if required:
                self.wrong(name, "is required")
            return default
        if not is_text(value) or len(value) > limit:
            self.wrong(name, f"must be text of at most {limit} characters")
            return default
        if required and not value:
            self.wrong(name, "must not be empty")
        return str(value)

    def name(self, field: str, default: str = "") -> str:
        """Return the name of something that is kept; it is required when there is no default."""
        value = self.text(field, default, required=not default, limit=128)
        if (value or default) and not NAME.fullmatch(value):
            self.wrong(field, "must be 1 to 128 letters, digits or _ . : / @ -, beginning and ending with a letter or digit")
        return value

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """Return a whole number between two bounds, both included."""
        value = self.take(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.wrong(name, f"must be a whole number from {least} to {most}")
            return default
        return value

    def fraction(self, name: str, default: float, least: float, most: float) -> float:
        """Return a number between two bounds, both included."""
        value = self.take(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
            self.wrong(name, f"must be a number from {least:g} to {most:g}")
            return default
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        """Return true or false."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.wrong(name, "must be true or false")
            return default
        return value

    def choice(self, name: str, default: str, allowed: Sequence[str]) -> str:
        """Return one of the allowed words."""
        value = self.take(name)
        if value is None:
            return default
        if value not in allowed:
            self.wrong(name, f"must be one of {', '.join(allowed)}")
            return default
        return str(value)

    def span(self, name: str) -> timedelta | None:
        """Return a length of time that is not negative, from seconds or text such as 90s, 5m, 2h; None when absent."""
        value = self.take(name)
        if value is None:
            return None
        if isinstance(value, bool):
            self.wrong(name, "must be a duration such as 90s, 5m or 2h")
            return None
        try:
            found = parse_duration(value, self.at(name))
        except Invalid as error:
            self.problems.extend(error.problems)
            return None
        if found < timedelta() or found > timedelta(days=36_500):
            self.wrong(name, "must not be negative or longer than a century")
            return None
        return found

    def mapping(self, name: str) -> dict[str, Any]:
        """Return a mapping of names to JSON values, empty when absent."""
        value = self.take(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.wrong(name, "must be a mapping")
            return {}
        found = list(problems_of(value, self.at(name)))
        self.problems.extend(found)
        return {} if found else dict(value)

    def items(self, name: str) -> list[Any]:
        """Return a list, empty when absent."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, list | tuple):
            self.wrong(name, "must be a list")
            return []
        return list(value)

    def finish(self) -> None:
        """Note every field that is not known."""
        for name in self.document:
            if name not in self._known:
                self.wrong(str(name), "is not a known field")


def demand(problems: Sequence[Problem]) -> None:
    """Raise Invalid with all problems, if there are any."""
    if problems:
        raise Invalid(problems)
