"""What a log line looks like, and what it never shows."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from headway.runtime.logs import configure_logs, log_fields


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Logging configured as JSON into a text, and put back afterwards."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    out = io.StringIO()
    configure_logs("info", "json", out)
    yield out
    root.handlers[:] = before
    root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    """Every line so far."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_an_event_is_one_line_with_its_facts_as_fields(stream: io.StringIO) -> None:
    """Events carry level, a UTC instant, their fields, and those of the run that is handled (OBS-05)."""
    log = structlog.get_logger()
    with log_fields(run="r1", attempt=2, definition="hello", correlation="c1"):
        log.info("report rendered", pages=3)
    log.debug("too fine")
    log.info("worker idle")
    first, second = lines(stream)
    assert first["timestamp"].endswith("Z")
    first.pop("timestamp")
    expected = {"run": "r1", "attempt": 2, "definition": "hello", "correlation": "c1"}
    assert first == {"event": "report rendered", "level": "info", "pages": 3, **expected}
    assert "run" not in second


def test_libraries_log_in_the_same_form(stream: io.StringIO) -> None:
    """What the standard library's loggers say is the same kind of line, with the logger's name and the fields of the run."""
    with log_fields(run="r1"):
        logging.getLogger("asyncpg").warning("lost %s", "connection", extra={"host": "db"})
    logging.getLogger("aiormq.connection").info("chatter")
    (line,) = lines(stream)
    assert (line["event"], line["level"], line["logger"], line["run"], line["host"]) == (
        "lost connection",
        "warning",
        "asyncpg",
        "r1",
        "db",
    )


def test_secrets_never_reach_a_line(stream: io.StringIO) -> None:
    """A canary in fields that are secret by name, in URLs, inside of containers, errors and library messages appears nowhere."""
    log = structlog.get_logger()
    log.info("key made", api_key="c4nary", nested={"Password": "c4nary", "urls": ["amqp://u:c4nary@mq/"]}, authorization="Bearer c4nary")
    log.info("connecting to postgresql://app:c4n/ary@c4nary@db/headway")
    logging.getLogger("driver").error("no route to amqp://u:c4nary@mq")
    try:
        raise OSError("postgresql://app:c4nary@db/headway refused")
    except OSError:
        log.exception("connecting failed")
    assert len(lines(stream)) == 4
    assert "c4nary" not in stream.getvalue()
    assert "postgresql://app:***@db/headway refused" in stream.getvalue()


def test_a_field_that_json_does_not_know_is_text(stream: io.StringIO) -> None:
    """Logging an event can never fail for its fields."""
    structlog.get_logger().info("odd", value=object, items={1, 2})
    assert lines(stream)[0]["items"] == [1, 2]


def test_the_console_form_is_for_people() -> None:
    """The form `console` is readable text, chosen where it is asked for or a terminal looks on."""
    out = io.StringIO()
    root = logging.getLogger()
    before = root.handlers[:]
    try:
        configure_logs("info", "console", out)
        structlog.get_logger().info("worker idle", slots=3)
    finally:
        root.handlers[:] = before
        logging.captureWarnings(False)
        structlog.reset_defaults()
    assert "worker idle" in out.getvalue()
    assert "slots=3" in out.getvalue()
