"""Whole processes under test: any number of each service, started, killed, frozen and always ended."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import orjson

HEADWAY = Path(sys.executable).parent / "headway"
APP = Path(__file__).parent / "application.py"
LEASE_SECONDS = 2.0


@dataclass(eq=False)
class Member:
    """One process of the fleet."""

    role: str
    process: "subprocess.Popen[bytes]"
    log: Path

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def signal(self, signum: signal.Signals) -> None:
        """Send it a signal, if it still runs."""
        if self.process.poll() is None:
            self.process.send_signal(signum)

    def kill(self) -> None:
        """SIGKILL, and wait for its end."""
        self.signal(signal.SIGKILL)
        self.process.wait(10)

    def stop(self, within: float = 20) -> int:
        """SIGTERM, and return its exit code."""
        self.signal(signal.SIGTERM)
        return self.process.wait(within)

    def said(self) -> str:
        """Everything that it logged."""
        return self.log.read_text(errors="replace")


@dataclass(eq=False)
class Fleet:
    """The services of one platform as processes, with the database to look at."""

    database_url: str
    broker_url: str
    folder: Path
    members: list[Member] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def effects(self) -> Path:
        """The ledger that handlers write to: one line for each start of an attempt."""
        return self.folder / "effects.log"

    def environment(self) -> dict[str, str]:
        """What every process is given: nothing of the caller's own settings."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
        return plain | {
            "HEADWAY_DATABASE_URL": self.database_url,
            "HEADWAY_BROKER_URL": self.broker_url,
            "HEADWAY_HEALTH_PORT": "0",
            "HEADWAY_LOG_FORMAT": "json",
            "HEADWAY_LEASE_SECONDS": str(LEASE_SECONDS),
            "HEADWAY_HEARTBEAT_SECONDS": "0.5",
            "HEADWAY_DRAIN_SECONDS": "5",
            "EFFECTS": str(self.effects),
            **self.settings,
        }

    def start(self, role: str, *args: str, **settings: str) -> Member:
        """Start one process of a service; a worker takes the tests' application."""
        command = [str(HEADWAY), role, *([str(APP)] if role == "worker" else []), *args]
        log = self.folder / f"{role}-{len(self.members)}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(command, env=self.environment() | settings, stdout=file, stderr=file, start_new_session=True)
        member = Member(role, process, log)
        self.members.append(member)
        return member

    def run(self, *args: str, timeout: float = 30) -> "subprocess.CompletedProcess[str]":
        """Run one command of `headway` to its end."""
        return subprocess.run([str(HEADWAY), *args], env=self.environment(), capture_output=True, text=True, timeout=timeout, check=False)

    def sync(self) -> None:
        """Write the definitions that the application declares."""
        done = self.run("sync", str(APP))
        assert done.returncode == 0, done.stderr

    def end(self) -> None:
        """End whatever still runs."""
        for member in self.members:
            if member.process.poll() is None:
                member.process.send_signal(signal.SIGCONT)
                member.process.kill()
                member.process.wait(10)

    def report(self) -> str:
        """The end of every log, for a test that failed."""
        return "\n".join(f"--- {member.role} {member.pid} ({member.process.poll()})\n{member.said()[-3000:]}" for member in self.members)

    async def rows(self, sql: str, *values: Any) -> list[Mapping[str, Any]]:
        """Ask the database."""
        connection = await asyncpg.connect(self.database_url)
        try:
            return [dict(row) for row in await connection.fetch(sql, *values)]
        finally:
            await connection.close()

    async def value(self, sql: str, *values: Any) -> Any:
        """Ask the database for one value."""
        return next(iter((await self.rows(sql, *values))[0].values()))

    async def until(self, sql: str, *values: Any, within: float = 30) -> Any:
        """Wait until a query's first value is true, and return it."""

        async def holds() -> Any:
            return await self.value(sql, *values)

        return await eventually(holds, within, what=sql, report=self.report)

    def starts(self) -> list[dict[str, Any]]:
        """Every start of an attempt that a handler noted."""
        if not self.effects.exists():
            return []
        return [orjson.loads(line) for line in self.effects.read_bytes().splitlines() if line.endswith(b"}")]


async def eventually(holds: Callable[[], Awaitable[Any]], within: float, *, what: str, report: Callable[[], str]) -> Any:
    """Ask again and again until the answer is true; system tests may sleep."""
    deadline = asyncio.get_running_loop().time() + within
    while True:
        if answer := await holds():
            return answer
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"not within {within:g} s: {what}\n{report()}")
        await asyncio.sleep(0.05)  # noqa: TID251  # a test of whole processes has no event to wait for


@contextmanager
def fleet_in(folder: Path, database_url: str, broker_url: str) -> Iterator[Fleet]:
    """Give a fleet that is ended whatever happens."""
    fleet = Fleet(database_url, broker_url, folder)
    try:
        yield fleet
    finally:
        fleet.end()
