"""A crontab's lines, as cron itself reads them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_SETTING: Final = re.compile(r"""([A-Za-z_][A-Za-z0-9_]*|"[^"]*"|'[^']*')[ \t]*=[ \t]*(.*)""")
_PERCENT: Final = re.compile(r"(?<!\\)%")
_QUOTES: Final = ('"', "'")


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is neither blank nor a comment, with its number from 1."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Setting:
    """A line that sets an environment variable for the lines below it; the value is taken as it stands, nothing is expanded."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that runs a command: when, as whom, what, and what the command reads."""

    when: str
    user: str | None
    command: str
    stdin: str | None


def lines(text: str) -> Iterator[Line]:
    """Yield the lines that say something."""
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = raw.strip(" \t\r")
        if line and not line.startswith("#"):
            yield Line(number, line)


def read_line(text: str, *, user_column: bool) -> Setting | Entry:
    """Return what a line says; raises ValueError with the reason when it says nothing that cron would run."""
    if "\0" in text:
        raise ValueError("holds a NUL character")
    if setting := _SETTING.fullmatch(text):
        return Setting(_unquoted(setting[1]), _unquoted(setting[2]))
    words = (1 if text.startswith("@") else 5) + user_column
    parts = re.split(r"[ \t]+", text, maxsplit=words)
    if len(parts) <= words:
        raise ValueError("has no command" if not user_column else "has no command: are user and command both there?")
    user = parts[-2] if user_column else None
    command, stdin = _split_input(parts[-1])
    return Entry(" ".join(parts[: words - user_column]), user, command, stdin)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES else text


def _split_input(command: str) -> tuple[str, str | None]:
    """Part a command from its input: the first `%` ends it, each further one is a newline, and `\\%` is a percent sign."""
    first, *rest = _PERCENT.split(command)
    if not rest:
        return _literal(first), None
    stdin = "\n".join(map(_literal, rest))
    return _literal(first), stdin if stdin.endswith("\n") else stdin + "\n"


def _literal(text: str) -> str:
    return text.replace("\\%", "%")
