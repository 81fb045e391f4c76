"""Spans and W3C trace context.  Without a collector a span costs next to nothing, and a context that came in still goes out to children."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar, Token
from dataclasses import dataclass
from typing import Final, TypeAlias

Attributes: TypeAlias = Mapping[str, str | int | float | bool]
Opener: TypeAlias = Callable[[str, str | None, Attributes | None], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class DescribedSpan:
    """One row of the documented table."""

    name: str
    attributes: tuple[str, ...]
    meaning: str


SPANS: Final = (
    DescribedSpan("run.enqueue", ("definition",), "Accepting runs, from validation to commit; parent: the caller's."),
    DescribedSpan("run.execute", ("run", "definition", "attempt"), "One attempt of a run, from start to outcome; parent: the enqueue."),
    DescribedSpan("reaction.handle", ("run", "kind"), "Working off what a settled run owes; parent: the run's."),
    DescribedSpan("api.request", ("method", "route"), "One HTTP request; parent: the header traceparent."),
)

_context: ContextVar[str | None] = ContextVar("traceparent", default=None)
_NOTHING: Final = nullcontext()


class _Passing(AbstractContextManager[None]):
    """Stands in for a span while tracing is off: it makes the parent the context of whatever happens inside."""

    __slots__ = ("_parent", "_token")
    _token: Token[str | None]

    def __init__(self, parent: str) -> None:
        self._parent = parent

    def __enter__(self) -> None:
        self._token = _context.set(self._parent)

    def __exit__(self, *_: object) -> None:
        _context.reset(self._token)


def _pass_on(name: str, parent: str | None, attributes: Attributes | None) -> AbstractContextManager[object]:
    return _Passing(parent) if parent else _NOTHING


class _Tracing:
    """What the functions below go by; `headway.runtime.spans` puts a recorder here."""

    opener: Opener = staticmethod(_pass_on)
    current: Callable[[], str | None] = staticmethod(_context.get)


_tracing: Final = _Tracing()


def span(name: str, *, parent: str | None = None, attributes: Attributes | None = None) -> AbstractContextManager[object]:
    """Record what happens in the block as a span; `parent` is a traceparent, without one the span that is open now."""
    return _tracing.opener(name, parent, attributes)


def current_traceparent() -> str | None:
    """The context that follow-up work is to carry, as the header's text; None where no trace is."""
    return _tracing.current()


def use_tracing(opener: Opener, current: Callable[[], str | None]) -> None:
    """Let another recorder do what `span` and `current_traceparent` promise."""
    _tracing.opener, _tracing.current = opener, current


def no_tracing() -> None:
    """Record nothing, and pass on what comes in: how every process begins."""
    use_tracing(_pass_on, _context.get)
