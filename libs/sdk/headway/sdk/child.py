"""Execute an attempt in a process of its own, which may be killed and whose memory is limited."""

import asyncio
import os
import signal
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from inspect import getsourcefile, unwrap
from typing import Any, Final
from uuid import UUID

import orjson

from headway.core.errors import HeadwayError
from headway.core.outcome import Lost, Outcome, SafeError
from headway.sdk.handler import Handler
from headway.sdk.run import Run
from headway.sdk.wire import ask_from, batch_from, facts_document, line, outcome_from

LONGEST_LINE: Final = 4 * 1024 * 1024
END_SECONDS: Final = 5.0


async def execute_in_child(handler: Handler, run: Run) -> Outcome:
    """Return what a handler made of the attempt in its own process; one that dies without an answer is Lost.

    The process and everything in its group is killed when this task is cancelled, and when the answer is there.
    """
    request = line(
        where=place_of(handler), path=sys.path, memory=handler.memory_limit, attempts=handler.attempts, facts=facts_document(run)
    )
    async with _pipe() as (reports, writing):
        process = await _start(writing)
        assert process.stdin is not None, "it was asked for"
        try:
            process.stdin.write(request)
            return await _listen(reports, process.stdin, run) or _lost(await _ended(process))
        finally:
            _kill(process)
            await asyncio.shield(_ended(process))


def place_of(handler: Handler) -> dict[str, str]:
    """Return where another process finds the handler's function."""
    function = unwrap(handler.function)
    return {"module": function.__module__, "file": getsourcefile(function) or "", "name": function.__qualname__}


@asynccontextmanager
async def _pipe() -> AsyncIterator[tuple[StreamReader, int]]:
    """A pipe that the process writes to; its writing end is closed by whoever starts the process."""
    reading, writing = os.pipe()
    reader = StreamReader(limit=LONGEST_LINE)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb", buffering=0))
    try:
        yield reader, writing
    finally:
        transport.close()


async def _start(writing: int) -> Process:
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "headway.sdk.childhood", str(writing), stdin=PIPE, pass_fds=[writing], start_new_session=True
        )
    finally:
        os.close(writing)


async def _listen(reports: StreamReader, answers: StreamWriter, run: Run) -> Outcome | None:
    """Do what the process asks for until it says its outcome; None when it says nothing more."""
    while said := await reports.readline():
        message = orjson.loads(said)
        if "outcome" in message:
            return outcome_from(message["outcome"])
        answers.write(await _obey(message, run))
    return None


async def _obey(message: dict[str, Any], run: Run) -> bytes:
    try:
        answer = await _answer(message, run)
    except HeadwayError as error:
        return line(number=message["number"], code=error.code, error=error.message)
    return line(number=message["number"], answer=answer)


async def _answer(message: dict[str, Any], run: Run) -> Any:
    match message:
        case {"percent": percent, "message": said}:
            await run.link.progress(run.facts, percent, said)
        case {"batch": document}:
            return await run.link.open_batch(run.facts, batch_from(document))
        case {"append_to": parent, "asks": asks}:
            return await run.link.append(run.facts, UUID(parent), [ask_from(ask) for ask in asks])
        case {"close": parent}:
            await run.link.close_batch(run.facts, UUID(parent))
        case {"asks": asks}:
            return await run.link.enqueue(run.facts, [ask_from(ask) for ask in asks])
    return None


async def _ended(process: Process) -> int:
    async with asyncio.timeout(END_SECONDS):
        return await process.wait()


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _lost(code: int) -> Lost:
    how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    return Lost(SafeError("Lost", f"the handler's process {how} before it answered"))
