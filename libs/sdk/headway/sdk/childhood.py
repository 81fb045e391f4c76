"""The life of a handler's own process: read the request, execute, say the outcome."""

import asyncio
import importlib
import itertools
import os
import resource
import signal
import sys
import threading
from asyncio import AbstractEventLoop, Future
from collections.abc import Sequence
from operator import attrgetter
from typing import Any, BinaryIO
from uuid import UUID

import orjson

from headway.core.ask import Ask
from headway.core.batch import BatchAsk
from headway.core.errors import HeadwayError, Unavailable
from headway.core.outcome import Outcome
from headway.sdk.execute import execute
from headway.sdk.handler import Handler
from headway.sdk.loading import load_file
from headway.sdk.run import Run
from headway.sdk.wire import ask_document, batch_document, facts_of, line, outcome_document


class Uplink:
    """The handler's link to its worker: what it asks goes up a pipe, answers come down the standard input."""

    def __init__(self, up: BinaryIO, loop: AbstractEventLoop) -> None:
        self.up = up
        self.loop = loop
        self.numbers = itertools.count()
        self.waiting: dict[int, Future[Any]] = {}

    async def progress(self, claimed: Any, percent: int, message: str) -> None:
        """Have the worker record progress."""
        await self._ask(percent=percent, message=message)

    async def enqueue(self, claimed: Any, asks: Sequence[Ask]) -> list[UUID]:
        """Have the worker create children."""
        return [UUID(one) for one in await self._ask(asks=[ask_document(ask) for ask in asks])]

    async def open_batch(self, claimed: Any, wanted: BatchAsk) -> UUID:
        """Have the worker open a batch."""
        return UUID(await self._ask(batch=batch_document(wanted)))

    async def append(self, claimed: Any, parent: UUID, children: Sequence[Ask]) -> int:
        """Have the worker append children to a batch."""
        return int(await self._ask(append_to=str(parent), asks=[ask_document(ask) for ask in children]))

    async def close_batch(self, claimed: Any, parent: UUID) -> None:
        """Have the worker close a batch."""
        await self._ask(close=str(parent))

    async def _ask(self, **message: Any) -> Any:
        number = next(self.numbers)
        self.waiting[number] = self.loop.create_future()
        self.say(number=number, **message)
        return await self.waiting[number]

    def say(self, **message: Any) -> None:
        """Send one message."""
        self.up.write(line(**message))
        self.up.flush()

    def hear(self) -> None:
        """Take answers until the worker is gone; then this process has nobody to work for."""
        for said in sys.stdin.buffer:
            self.loop.call_soon_threadsafe(self._answered, orjson.loads(said))
        os.kill(os.getpid(), signal.SIGKILL)

    def _answered(self, answer: dict[str, Any]) -> None:
        future = self.waiting.pop(answer["number"])
        if "error" in answer:
            away = answer["code"] in {"unavailable", "lease_lost", "contested"}
            future.set_exception((Unavailable if away else HeadwayError)(answer["error"], code=answer["code"]))
        else:
            future.set_result(answer["answer"])


def found(where: dict[str, str]) -> Any:
    """Return the function at a place that another process named; a job stands for its handler's function."""
    try:
        module = importlib.import_module(where["module"]) if where["module"] != "__main__" else load_file(where["file"])
    except ModuleNotFoundError:
        module = load_file(where["file"])
    thing = attrgetter(where["name"])(module)
    return thing.handler.function if isinstance(getattr(thing, "handler", None), Handler) else thing


async def live(request: dict[str, Any], up: BinaryIO) -> Outcome:
    """Execute the attempt that was asked for."""
    uplink = Uplink(up, asyncio.get_running_loop())
    threading.Thread(target=uplink.hear, daemon=True).start()
    facts = facts_of(request["facts"])
    handler = Handler.of(found(request["where"]), name=facts.handler, attempts=request["attempts"])
    outcome = await execute(handler, Run(facts, uplink))
    sys.stdout.flush()
    uplink.say(outcome=outcome_document(outcome))
    return outcome


def main() -> None:
    """Be a handler's process."""
    with os.fdopen(int(sys.argv[1]), "wb") as up:
        request = orjson.loads(sys.stdin.buffer.readline())
        sys.path[:] = request["path"]
        if request["memory"]:
            resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
        asyncio.run(live(request, up))


if __name__ == "__main__":
    main()
