"""What may stand around every handler."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from headway.sdk.run import Run

Proceed: TypeAlias = Callable[[], Awaitable[Any]]
Middleware: TypeAlias = Callable[[Run, Proceed], Awaitable[Any]]
"""Called with the run and with what is inside of it: `return await proceed()`, or return and raise as a handler may."""
