"""The metadata that all tables share, and the column shapes that repeat."""

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Boolean, Column, DateTime, Integer, Interval, MetaData, SmallInteger, Text, text
from sqlalchemy.dialects.postgresql import JSONB

metadata: Final = MetaData(
    schema="headway",
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "ix": "%(table_name)s_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "fk": "%(table_name)s_%(column_0_name)s_fkey",
    },
)


def instant(name: str, *, null: bool = False) -> Column[datetime]:
    """An instant in UTC."""
    return Column(name, DateTime(timezone=True), nullable=null)


def span(name: str, *, null: bool = False, default: str | None = None) -> Column[timedelta]:
    """A length of time."""
    return Column(name, Interval, nullable=null, server_default=None if default is None else text(f"interval '{default}'"))


def words(name: str, *, null: bool = False, default: str | None = None) -> Column[str]:
    """Text."""
    return Column(name, Text, nullable=null, server_default=default)


def number(name: str, *, null: bool = False, default: int | None = None) -> Column[int]:
    """A whole number."""
    return Column(name, Integer, nullable=null, server_default=None if default is None else text(str(default)))


def small(name: str, *, null: bool = False, default: int | None = None) -> Column[int]:
    """A small whole number: a state, an outcome, a priority."""
    return Column(name, SmallInteger, nullable=null, server_default=None if default is None else text(str(default)))


def flag(name: str, *, default: bool) -> Column[bool]:
    """A yes or no."""
    return Column(name, Boolean, nullable=False, server_default=text("true" if default else "false"))


def document(name: str, *, null: bool = False) -> Column[Any]:
    """A JSON document; an absent one is `{}` unless null is allowed."""
    return Column(name, JSONB, nullable=null, server_default=None if null else text("'{}'::jsonb"))
