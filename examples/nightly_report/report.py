"""What a day of a web shop's access log says, and how it is told.  Nothing here knows of jobs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

LINE = re.compile(
    r"(?P<client>\S+) \S+ \S+ \[(?P<at>[^\]]+)\] "
    r'"(?P<method>[A-Z]+) (?P<path>\S+)[^"]*" (?P<status>\d{3}) (?P<size>\d+|-) "[^"]*" "(?P<agent>[^"]*)"'
)


class Unreadable(ValueError):
    """Too much of a log is not in the combined format: it is probably not the log that was meant."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as the log has it; `day` and `hour` are the server's."""

    client: str
    day: date
    hour: int
    path: str
    status: int
    size: int
    robot: bool


@dataclass
class Day:
    """The figures of one day; `size` is in bytes."""

    day: date
    requests: int = 0
    robots: int = 0
    size: int = 0
    clients: set[str] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    pages: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    hours: Counter[int] = field(default_factory=Counter)

    def add(self, request: Request) -> None:
        """Count a request of this day."""
        self.requests += 1
        self.robots += request.robot
        self.size += request.size
        self.clients.add(request.client)
        self.statuses[request.status // 100] += 1
        self.hours[request.hour] += 1
        (self.failures if request.status >= 400 else self.pages)[request.path] += 1


def read(lines: Iterable[str], *, tolerated: float = 0.01) -> Iterator[Request]:
    """Yield the requests of a log.  Raises Unreadable at the end if more than the tolerated part of its lines was none."""
    total = unreadable = 0
    for line in lines:
        total += 1
        if match := LINE.match(line):
            yield _request(match)
        else:
            unreadable += 1
    if unreadable > total * tolerated:
        raise Unreadable(f"{unreadable} of {total} lines are not in the combined log format")


def summarise(requests: Iterable[Request], day: date | None = None) -> Day:
    """Return the figures of a day, of the last one in the log if none is given.  Raises LookupError when the log has nothing of it."""
    days: dict[date, Day] = {}
    for request in requests:
        days.setdefault(request.day, Day(request.day)).add(request)
    wanted = day or max(days, default=None)
    if wanted not in days:
        raise LookupError(f"the log has nothing of {wanted or 'any day'}")
    return days[wanted]


def render(day: Day, top: int) -> str:
    """Return the report as Markdown, with the `top` most wanted pages and failures."""
    busiest, most = max(day.hours.items(), key=lambda item: (item[1], -item[0]))
    failed = sum(day.failures.values())
    lines = [
        f"# Requests on {day.day:%A, %d %B %Y}",
        "",
        f"{day.requests:,} requests by {len(day.clients):,} clients, {day.robots / day.requests:.0%} of them from robots; "
        f"{day.size / 1e6:.1f} MB sent. Busiest hour: {busiest:02}:00 with {most:,}. Failed: {failed:,} ({failed / day.requests:.1%}).",
        "",
        *_table("Status", {f"{status}xx": count for status, count in sorted(day.statuses.items())}.items()),
        *_table("Page", day.pages.most_common(top)),
        *_table("Failed", day.failures.most_common(top)),
    ]
    return "\n".join(lines)


def write(text: str, path: Path) -> None:
    """Write a report as a whole or not at all, so that a repeated attempt leaves one good file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def _request(match: re.Match[str]) -> Request:
    at = datetime.strptime(match["at"], "%d/%b/%Y:%H:%M:%S %z")
    path, _, _ = match["path"].partition("?")
    size = 0 if match["size"] == "-" else int(match["size"])
    return Request(match["client"], at.date(), at.hour, path, int(match["status"]), size, "bot" in match["agent"].lower())


def _table(title: str, rows: Iterable[tuple[str, int]]) -> list[str]:
    return [f"| {title} | requests |", "|---|---:|", *(f"| {name} | {count:,} |" for name, count in rows), ""]
