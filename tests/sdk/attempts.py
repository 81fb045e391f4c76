"""Attempts that nobody claimed, and what becomes of them."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from pydantic import BaseModel

from headway.core.outcome import Failure, Outcome
from headway.sdk import Run
from headway.sdk.execute import execute
from headway.sdk.handler import Handler
from headway.sdk.testing import Facts, Recorder


class Report(BaseModel):
    """A model to take parameters as."""

    customer: str
    pages: int = 1


def attempt(params: str | None = None, **facts: Any) -> Run:
    """A run that nobody claimed."""
    return Run(Facts(uuid4(), params=params, **facts), Recorder())


async def outcome(function: Callable[..., Any], params: str | None = None) -> Outcome:
    """What one execution of a function makes of a run."""
    return await execute(Handler.of(function), attempt(params))


def returning(value: object) -> Callable[..., Any]:
    """A handler that returns a value."""

    async def handler() -> object:
        return value

    return handler


def raising(error: BaseException) -> Callable[..., Any]:
    """A handler that raises."""

    async def handler() -> None:
        raise error

    return handler


def failure(found: Outcome) -> Failure:
    """The failure that an outcome is."""
    assert isinstance(found, Failure)
    return found
