"""Logging: every line is an event in the past tense with its facts as fields, as JSON or for a terminal, and no secret in it."""

import logging
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Final, TextIO

import structlog
from structlog.contextvars import bound_contextvars
from structlog.types import EventDict, Processor

from headway.core.hiding import hidden

MASK: Final = "***"
SECRET_NAME: Final = re.compile(r"passw|secret|token|credential|authorization|cookie|api_?key|private_?key|dsn", re.IGNORECASE)
USERINFO: Final = re.compile(r"(://[^/\s:@]*):[^\s]*@")
_HIDDEN: ContextVar[Sequence[str]] = ContextVar("headway_hidden", default=())
NOISY: Final = ("aiormq", "aio_pika", "asyncio", "httpx", "httpcore", "urllib3", "alembic.runtime.plugins")


def log_fields(**fields: object) -> AbstractContextManager[None]:
    """Add fields to every event of this task until the block ends.

    The names are run, attempt, definition, schedule, tenant, session and correlation (OBS-05).
    """
    return bound_contextvars(**fields)


@contextmanager
def log_hiding(words: Sequence[str]) -> Iterator[None]:
    """Mask these words in every event of this task, and of the threads that it starts, until the block ends."""
    token = _HIDDEN.set(words)
    try:
        yield
    finally:
        _HIDDEN.reset(token)


def redact(logger: Any, method: str, event: EventDict) -> EventDict:
    """Mask the values of fields that are secret by name, passwords inside of URLs, and the words of `log_hiding`, at any depth."""
    shown = {name: _masked(name, value) for name, value in event.items()}
    words = _HIDDEN.get()
    return {name: hidden(value, words) for name, value in shown.items()} if words else shown


def _masked(name: object, value: Any) -> Any:
    if isinstance(name, str) and SECRET_NAME.search(name):
        return MASK
    match value:
        case str():
            return USERINFO.sub(rf"\1:{MASK}@", value) if "://" in value else value
        case Mapping():
            return {key: _masked(key, item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_masked("", item) for item in value]
        case _:
            return value


def configure_logs(level: str, form: str, stream: TextIO | None = None) -> None:
    """Send the events of structlog and of the standard library to one stream (stderr), in one form.

    `form` is json, console or auto: console where a person looks on.
    """
    out = stream or sys.stderr
    console = form == "console" or (form == "auto" and out.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        structlog.processors.UnicodeDecoder(),
    ]
    last: Processor = structlog.dev.ConsoleRenderer(colors=out.isatty()) if console else structlog.processors.JSONRenderer(default=str)
    structlog.configure(
        processors=[*shared, redact, last],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    _configure_standard(
        level,
        out,
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder(), structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, redact, last],
        ),
    )


def _configure_standard(level: str, out: TextIO, formatter: logging.Formatter) -> None:
    handler = logging.StreamHandler(out)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in NOISY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(True)
