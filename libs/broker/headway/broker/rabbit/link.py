"""A connection to RabbitMQ that is made again for ever."""

import asyncio
import logging
from asyncio import Event, Task
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import aio_pika
from aio_pika.abc import AbstractConnection
from pamqp.common import FieldTable
from yarl import URL

from headway.broker.counts import BrokerCounts
from headway.broker.rabbit.faults import answered, asked_to_end, for_ever
from headway.core.errors import Invalid, Unavailable

log = logging.getLogger(__name__)

HEARTBEAT: Final = 10
CONNECT_SECONDS: Final = 10.0
FURNISH_SECONDS: Final = 30.0
CLOSE_SECONDS: Final = 2.0
STOP_SECONDS: Final = 10.0
STEADY_SECONDS: Final = 5.0
"""A connection that lived this long is made again at once; one that did not, with growing waits."""

Furnish = Callable[[AbstractConnection, Event], Awaitable[None]]


class Link:
    """One connection that comes back whenever it is lost.

    `furnish` runs on each new connection before it counts as up, and declares what must stand there.  It gets the event that
    ends this connection's life, too: whoever sets it has another one made.
    """

    def __init__(self, url: str, name: str, furnish: Furnish, counts: BrokerCounts) -> None:
        address = URL(url)
        self._url = address if "heartbeat" in address.query else address.update_query(heartbeat=HEARTBEAT)
        self._name = name
        self._furnish = furnish
        self._counts = counts
        self._connection: AbstractConnection | None = None
        self._refusal: Invalid | None = None
        self.trouble = ""
        """Why the last try to connect failed."""
        self._answered = Event()
        self._keeper: Task[None] | None = None

    @property
    def up(self) -> bool:
        """Whether the connection stands and is furnished."""
        return self._connection is not None

    @property
    def connection(self) -> AbstractConnection:
        """The connection, at this moment.  Raises Unavailable while there is none."""
        if self._connection is None:
            raise Unavailable("the broker is not connected")
        return self._connection

    async def ready(self) -> AbstractConnection:
        """Wait until the link is up.  Raises Invalid when the broker refuses what must stand there."""
        while self._connection is None:
            if self._refusal is not None:
                raise Invalid(self._refusal.problems, code=self._refusal.code)
            self._answered.clear()
            await self._answered.wait()
        return self._connection

    def start(self) -> None:
        """Begin to connect, in the background."""
        self._keeper = self._keeper or asyncio.create_task(self._keep(), name=f"broker link {self._name}")

    async def stop(self) -> None:
        """Close the connection for good, within seconds."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper], timeout=STOP_SECONDS)

    async def _keep(self) -> None:
        while True:
            await for_ever(self._heed)(self._live)

    async def _live(self) -> None:
        """Connect and stay until the connection is lost.  Raises when that was too soon to come back without waiting."""
        if asked_to_end():  # a driver that is cancelled amid a question may answer with an error of its own, which looks like an outage
            raise asyncio.CancelledError
        connection = await self._connect()
        began = asyncio.get_running_loop().time()
        lost = Event()
        connection.close_callbacks.add(lambda *_: lost.set())
        try:
            await self._welcome(connection, lost)
            await lost.wait()
        finally:
            self._connection = None
            await discard(connection)
        self._counts.reconnects += 1
        log.warning("broker connection was lost", extra={"link": self._name})
        if asyncio.get_running_loop().time() - began < STEADY_SECONDS:
            raise Unavailable("the connection was lost at once")

    async def _connect(self) -> AbstractConnection:
        name: FieldTable = {"connection_name": f"headway {self._name}"}
        try:
            with answered("connect"):
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await aio_pika.connect(self._url, client_properties=name)
        except Unavailable as error:
            self.trouble = str(error)
            raise

    async def _welcome(self, connection: AbstractConnection, lost: Event) -> None:
        try:
            with answered("declare the topology"):
                async with asyncio.timeout(FURNISH_SECONDS):
                    await self._furnish(connection, lost)
        except Invalid as refusal:
            self._refusal = refusal
            self._answered.set()
            raise
        self._refusal = None
        self._connection = connection
        self._answered.set()
        log.info("broker was connected", extra={"link": self._name})

    def _heed(self, tries: int, error: BaseException) -> None:
        level = logging.ERROR if isinstance(error, Invalid) else logging.WARNING
        log.log(level, "broker was not reached", extra={"link": self._name, "tries": tries, "error": str(error)})


async def discard(connection: AbstractConnection) -> None:
    """Close a connection of which nothing more is wanted, whatever state it is in."""
    with suppress(Unavailable), answered("close the connection"):
        async with asyncio.timeout(CLOSE_SECONDS):
            await connection.close()
