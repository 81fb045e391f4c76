"""A statement is built once from the schema, compiled once to the driver's text, and rendered to `contracts/sql/`.

SQLAlchemy Core writes the SQL; asyncpg runs it.  Parameters are named in the statement and positional on the wire.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnClause,
    ColumnElement,
    DateTime,
    Executable,
    TableValuedAlias,
    bindparam,
    column,
    func,
    literal_column,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.sql.type_api import TypeEngine

DEFAULT_SCHEMA: Final = "headway"
INSTANT: Final = DateTime(timezone=True)
REGISTRY: Final[dict[str, "Statement"]] = {}
_DIALECT: Final = PGDialect_asyncpg()  # type: ignore[no-untyped-call]  # SQLAlchemy leaves dialect constructors untyped


class Statement:
    """One SQL statement by name.  `text(schema)` is what the driver is given, `arguments` what it is given with."""

    def __init__(self, name: str, element: Executable) -> None:
        compiled = element.compile(dialect=_DIALECT)  # type: ignore[attr-defined]  # Executable is compilable, its stub does not say so
        self.name = name
        self._text = str(compiled)
        self.parameters: tuple[str, ...] = tuple(compiled.positiontup or ())
        if nameless := [name for name in self.parameters if not compiled.binds[name].required]:
            raise ValueError(f"statement {name} holds values where SQL or a parameter has to stand: {', '.join(nameless)}")
        self.text = lru_cache(maxsize=8)(self._in_schema)

    def _in_schema(self, schema: str) -> str:
        return self._text if schema == DEFAULT_SCHEMA else self._text.replace(f"{DEFAULT_SCHEMA}.", f"{schema}.")

    def arguments(self, values: Mapping[str, Any]) -> list[Any]:
        """Return the values in the statement's own order.  A missing one is a KeyError naming it."""
        return [values[name] for name in self.parameters]


def statement(name: str, element: Executable) -> Statement:
    """Build a statement and enter it in the registry under a unique name."""
    if name in REGISTRY:
        raise ValueError(f"statement {name} is registered twice")
    REGISTRY[name] = Statement(name, element)
    return REGISTRY[name]


def const(number: int) -> ColumnElement[int]:
    """Return a number that stands in the text itself, so that the planner sees it."""
    return literal_column(str(int(number)))


def hidden(column: ColumnElement[int], number: int) -> ColumnElement[bool]:
    """Compare a column so that no partial index on it matches.

    A guard that repeats a partial index's predicate is planned as a scan of that whole index when statistics were taken while it
    was empty (performance.md, "The planner trap").
    """
    return (column + const(0)) == const(number)


def param(name: str, kind: TypeEngine[Any] | type[TypeEngine[Any]]) -> BindParameter[Any]:
    """Return a named parameter of a type."""
    return bindparam(name, type_=kind)


def array(name: str, kind: TypeEngine[Any] | type[TypeEngine[Any]]) -> BindParameter[Any]:
    """Return a named parameter that is an array of a type."""
    return bindparam(name, type_=ARRAY(kind))


def given(name: str, **columns: TypeEngine[Any] | type[TypeEngine[Any]]) -> TableValuedAlias:
    """Return parameters as a table: one array parameter for each column, unnested side by side under `name`."""
    arrays = [array(column_name, kind) for column_name, kind in columns.items()]
    shape: list[ColumnClause[Any]] = [column(column_name, kind) for column_name, kind in columns.items()]
    return func.unnest(*arrays).table_valued(*shape).render_derived(name=name)


def now() -> ColumnElement[datetime]:
    """Return the database's instant, by the one function that reads its clock."""
    return func.headway.headway_now()


Row = Mapping[str, Any]
Decode = Callable[[Row], Any]
