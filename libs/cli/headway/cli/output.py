"""How answers are written: tables for people, JSON for programs; colours and progress only on a terminal."""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

WIDE: Final = 100_000  # a pipe has no width: nothing is wrapped or cut there
FRACTION: Final = re.compile(r"(?<=^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+(?=Z$)")  # of an instant: a table's readers need no microseconds
COLOURS: Final = {
    "succeeded": "green",
    "failed": "red",
    "running": "cyan",
    "cancelled": "yellow",
    "skipped": "yellow",
    "created": "green",
    "updated": "yellow",
    "changed": "yellow",
    "broken": "red",
    "holds": "green",
    "fired": "green",
    "deferred": "cyan",
    "added": "green",
    "removed": "red",
}


class Format(StrEnum):
    """What `--output` may say."""

    TABLE = "table"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Output:
    """The global options, and the writing that follows from them."""

    format: Format = Format.TABLE
    colour: bool = True
    api: str | None = None

    @property
    def json(self) -> bool:
        """Whether a program reads along."""
        return self.format is Format.JSON

    def document(self, value: Any) -> None:
        """Write a value as JSON."""
        typer.echo(json.dumps(value, indent=2, ensure_ascii=False))

    def say(self, text: str) -> None:
        """Write a line for people; where a program reads along it goes to stderr."""
        typer.echo(text, err=self.json)

    def table(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, none: str) -> None:
        """Write rows under the names of columns, or all of them as JSON; `none` stands where there are no rows."""
        if self.json:
            self.document(list(rows))
        elif rows:
            self._table(rows, columns)
        else:
            typer.echo(none)

    def fields(self, document: Mapping[str, Any], names: Sequence[str]) -> None:
        """Write what a document says under some names, a line each; what is empty is left out."""
        given = [(name, text) for name in names if (text := cell(document.get(name)))]
        width = max((len(name) for name, _ in given), default=0)
        for name, text in given:
            self._print(_styled(f"{name.replace('_', ' '):{width}}  ", "dim"), _styled(text))

    def heading(self, text: str) -> None:
        """Write what the next lines are about."""
        self._print()
        self._print(_styled(text, "bold"))

    @contextmanager
    def progress(self, text: str) -> Iterator["Status | None"]:
        """Show that something goes on, on a terminal; elsewhere there is nothing to be seen."""
        console = self._console(stderr=True)
        if not console.is_terminal or self.json:
            yield None
            return
        with console.status(text) as status:
            yield status

    def _table(self, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in columns:
            table.add_column(name.replace("_", " "), overflow="fold", no_wrap=name == "id")
        for row in rows:
            table.add_row(*(_styled(FRACTION.sub("", cell(row.get(name)))) for name in columns))
        self._console().print(table)

    def _print(self, *parts: "Text") -> None:
        from rich.text import Text

        self._console().print(Text.assemble(*parts), soft_wrap=True)

    def _console(self, *, stderr: bool = False) -> "Console":
        from rich.console import Console

        terminal = (sys.stderr if stderr else sys.stdout).isatty()
        return Console(
            stderr=stderr,
            no_color=not self.colour or None,
            highlight=False,
            markup=False,
            emoji=False,
            width=None if terminal else WIDE,
            force_terminal=None if terminal else False,
        )


def cell(value: Any) -> str:
    """Return a value as a person reads it in a table."""
    match value:
        case None | "":
            return ""
        case bool():
            return "yes" if value else "no"
        case str():
            return value
        case _:
            return json.dumps(value, ensure_ascii=False)


def _styled(text: str, style: str = "") -> "Text":
    from rich.text import Text

    return Text(text, style=style or COLOURS.get(text, ""))


def output_of(ctx: typer.Context) -> Output:
    """Return the output that the global options ask for."""
    found = ctx.find_object(Output)
    assert found is not None, "the root sets it before any verb runs"
    return found
