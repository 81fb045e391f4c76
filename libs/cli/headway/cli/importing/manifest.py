"""A mapping of a manifest, read field by field: what nobody asked for is noted."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any


class Part:
    """One mapping of a manifest.  A getter answers None for what is not there and raises ValueError for what is of another kind."""

    def __init__(self, fields: Mapping[str, Any], path: str, notes: list[str]) -> None:
        self.fields = fields
        self.path = path
        self.notes = notes
        self._asked: set[str] = set()

    @classmethod
    def of(cls, value: Any, path: str, notes: list[str]) -> "Part":
        """Read something that should be a mapping; nothing reads as empty."""
        if value is not None and not isinstance(value, Mapping):
            raise ValueError(f"{path} must be a mapping")
        return cls(value or {}, path, notes)

    def take(self, name: str) -> Any:
        """Return what stands under a name, None for nothing."""
        self._asked.add(name)
        return self.fields.get(name)

    def text(self, name: str) -> str | None:
        """Return text."""
        value = self.take(name)
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} must be text")
        return value

    def whole(self, name: str) -> int | None:
        """Return a whole number that is not negative."""
        value = self.take(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise ValueError(f"{name} must be a whole number")
        return value

    def texts(self, name: str) -> list[str]:
        """Return a list of texts, empty for nothing."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise ValueError(f"{name} must be a list of texts")
        return value

    def part(self, name: str) -> "Part":
        """Return a mapping inside of this one."""
        return Part.of(self.take(name), name, self.notes)

    def parts(self, name: str) -> list["Part"]:
        """Return a list of mappings, empty for nothing."""
        value = self.take(name)
        if value is not None and not isinstance(value, list):
            raise ValueError(f"{name} must be a list")
        return [Part.of(one, name, self.notes) for one in value or []]

    def note(self, name: str, why: str) -> None:
        """Note that something is not taken, or not as it is meant."""
        self.notes.append(f"{name} {why}")

    def note_rest(self, silent: AbstractSet[str]) -> None:
        """Note the fields that nobody asked for."""
        if rest := sorted(str(name) for name in self.fields if name not in self._asked and name not in silent):
            self.notes.append(f"{', '.join(rest)}: left out, of no meaning outside of Kubernetes")
