"""The nightly report's figures, from the log that ships with it."""

import random
from datetime import date
from pathlib import Path

import pytest

from examples.nightly_report import make_log
from examples.nightly_report.report import Unreadable, read, render, summarise, write

LOG = Path(make_log.__file__).parent / "data" / "access.log"
GOOD = '192.0.2.1 - - [02/Mar/2026:{hour}:59:59 +0000] "GET {path} HTTP/1.1" {status} {size} "-" "{agent}"\n'


def line(path: str = "/", status: int = 200, size: int | str = 10, hour: str = "09", agent: str = "Browser") -> str:
    return GOOD.format(path=path, status=status, size=size, hour=hour, agent=agent)


def test_the_log_is_what_its_maker_writes() -> None:
    """COR-05: the example's input can be made again, byte by byte."""
    assert LOG.read_text() == "".join(f"{row}\n" for row in make_log.rows(random.Random(make_log.SEED)))  # noqa: S311 - made-up data


def test_the_last_day_of_the_log() -> None:
    """COR-05: without a day the report is about the last one, and its figures are those that a count by other means gives."""
    day = summarise(read(LOG.read_text().splitlines()))
    rows = [row for row in LOG.read_text().splitlines() if "[08/Mar/2026" in row]
    assert day.day == date(2026, 3, 8)
    assert day.requests == sum(day.statuses.values()) == sum(day.hours.values()) == len(rows)
    assert day.pages["/search"] == sum("/search?q=" in row for row in rows)
    assert sum(day.failures.values()) == sum(any(f'" {status} ' in row for status in (404, 503)) for row in rows)
    assert len(day.clients) == len({row.split()[0] for row in rows})


def test_a_report() -> None:
    """COR-05: figures become a page that people read; queries are no pages of their own, robots are told apart."""
    rows = [line("/a?x=1"), line("/a?x=2"), line("/b", size="-"), line("/c", 404, hour="10"), line("/d", 503, agent="SomeBot/1")]
    text = render(summarise(read(rows)), top=1)
    assert "# Requests on Monday, 02 March 2026" in text
    assert "5 requests by 1 clients, 20% of them from robots" in text
    assert "Busiest hour: 09:00 with 4. Failed: 2 (40.0%)." in text
    assert "| /a | 2 |" in text
    assert "/b" not in text
    assert "| 5xx | 1 |" in text


def test_a_log_of_another_kind() -> None:
    """RTY-06: a line in a hundred may be broken, more than that is another file."""
    assert len(list(read([line()] * 99 + ["broken"]))) == 99
    with pytest.raises(Unreadable, match="2 of 101 lines"):
        list(read([line()] * 99 + ["broken"] * 2))


def test_a_day_that_is_not_there() -> None:
    """RTY-01: what the log does not have yet is an error that may pass."""
    with pytest.raises(LookupError, match="2026-03-09"):
        summarise(read([line()]), date(2026, 3, 9))
    with pytest.raises(LookupError, match="any day"):
        summarise([])


def test_a_report_is_written_whole(tmp_path: Path) -> None:
    """LSE-07: writing twice leaves one file and no draft."""
    path = tmp_path / "deep" / "2026-03-02.md"
    for text in ("first", "second"):
        write(text, path)
    assert [found.name for found in path.parent.iterdir()] == ["2026-03-02.md"]
    assert path.read_text() == "second"
