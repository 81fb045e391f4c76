"""Run a command in a session of its own, keep what it prints within a limit, and leave nothing of it behind."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from headway.runtime.loops import CLOCK

CHUNK: Final = 65_536
LINGER: Final = 0.5
ROUNDS: Final = 500
A_MOMENT: Final = 0.01
_PROCESSES: Final = Path("/proc")
_DEAD: Final = ("Z", "X")


@dataclass(frozen=True, slots=True)
class Command:
    """What to run.  `timeout` None is none; `grace` lies between SIGTERM and SIGKILL; `account` goes to the subprocess as it is."""

    arguments: Sequence[str]
    environment: Mapping[str, str]
    directory: str | None = None
    stdin: str | None = None
    output_limit: int = 65_536
    timeout: float | None = None
    grace: float = 5.0
    account: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended: its exit code (negative is the signal that ended it), what it printed, how long it took in seconds."""

    exit_code: int
    output: str
    truncated: bool
    seconds: float
    timed_out: bool


class Captured:
    """The first and the last part of a stream, each half of `limit` bytes; what lies between is counted and dropped."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.dropped = 0

    def add(self, chunk: bytes) -> None:
        room = self._half - len(self._head)
        self._head += chunk[:room] if room > 0 else b""
        self._tail += chunk[max(room, 0) :]
        surplus = len(self._tail) - self._half
        if surplus > 0:
            del self._tail[:surplus]
            self.dropped += surplus

    def text(self) -> str:
        """Return it as text that may be stored: what is no UTF-8, and NUL, is replaced; a line says how much was dropped."""
        gap = f"\n... {self.dropped} bytes dropped ...\n" if self.dropped else ""
        return f"{_readable(self._head)}{gap}{_readable(self._tail)}" if gap else _readable(self._head + self._tail)


async def run_command(command: Command) -> Finished:
    """Run a command to its end and return how it ended.

    When its own process ends, times out, or the caller is cancelled, the rest of its session is ended too: SIGTERM, the grace,
    SIGKILL.  A process that begins a session of its own (`setsid`) has left on purpose and is not followed.
    Raises OSError when the command cannot be started.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    captured = Captured(command.output_limit)
    async with _capturing(captured) as (sink, reading):
        process = await _begin(command, sink, reading)
        timed_out = False
        try:
            async with asyncio.timeout(command.timeout):
                await process.wait()
        except TimeoutError:
            timed_out = True
        finally:
            await _end_session(process, reading, command.grace)
    return Finished(await process.wait(), captured.text(), captured.dropped > 0, loop.time() - started, timed_out)


@asynccontextmanager
async def _capturing(captured: Captured) -> AsyncIterator[tuple[FileIO, asyncio.Task[None]]]:
    """A pipe to print into, and the task that reads it to its end.

    The pipe is ours and not asyncio's, so that waiting for the process never waits for whoever else holds its output open.
    """
    read_end, write_end = os.pipe()
    source, sink = os.fdopen(read_end, "rb", buffering=0), os.fdopen(write_end, "wb", buffering=0)
    stream = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), source)
    reading = asyncio.create_task(_read(stream, captured))
    try:
        yield sink, reading
    finally:
        sink.close()
        reading.cancel()
        transport.close()


async def _read(stream: asyncio.StreamReader, captured: Captured) -> None:
    while chunk := await stream.read(CHUNK):
        captured.add(chunk)


async def _begin(command: Command, sink: FileIO, reading: asyncio.Task[None]) -> asyncio.subprocess.Process:
    """Start a command.  It may run before this knows its process: who is cancelled meanwhile ends it like one that is known."""
    starting = asyncio.create_task(_start(command, sink))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.wait([starting])
        if not starting.cancelled() and starting.exception() is None:
            await _end_session(starting.result(), reading, command.grace)
        raise


async def _start(command: Command, sink: FileIO) -> asyncio.subprocess.Process:
    with _input(command.stdin) as stdin, sink:
        return await asyncio.create_subprocess_exec(
            *command.arguments,
            stdin=stdin,
            stdout=sink,
            stderr=sink,
            env=command.environment,
            cwd=command.directory,
            start_new_session=True,
            **command.account,
        )


@contextmanager
def _input(text: str | None) -> Iterator[IO[bytes] | int]:
    """What the command reads: nothing, or the text from a file, which no reader can leave half written."""
    if text is None:
        yield asyncio.subprocess.DEVNULL
        return
    with TemporaryFile() as file:
        file.write(text.encode())
        file.seek(0)
        yield file


async def _end_session(process: asyncio.subprocess.Process, reading: asyncio.Task[None], grace: float) -> None:
    """End what is left of a command's session, and take in the last that it printed."""
    try:
        if _signal_session(process.pid, signal.SIGTERM):
            with suppress(TimeoutError):
                async with asyncio.timeout(grace):
                    await process.wait()
                    await asyncio.wait([reading])
    finally:
        await _kill(process.pid)
    await process.wait()
    await asyncio.wait([reading], timeout=LINGER)


async def _kill(session: int) -> None:
    """Kill what is left of a session, and return when it is gone: whoever is ending has closed its output a moment before."""
    for _ in range(ROUNDS):
        if not _signal_session(session, signal.SIGKILL):
            return
        await CLOCK.wait(asyncio.Event(), A_MOMENT)


def _signal_session(session: int, number: signal.Signals) -> int:
    """Signal every living process of a session, and say how many there were."""
    members = list(_members(session))
    for pid in members:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return len(members)


def _members(session: int) -> Iterator[int]:
    """The living processes of a session; where there is no /proc, its first process group."""
    if not _PROCESSES.exists():
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(session, 0)
            yield -session
        return
    for entry in _PROCESSES.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                state, _parent, _group, found = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(found) == session and state not in _DEAD:
                    yield int(entry.name)


def _readable(raw: bytes | bytearray) -> str:
    return raw.decode(errors="replace").replace("\0", "\ufffd")
