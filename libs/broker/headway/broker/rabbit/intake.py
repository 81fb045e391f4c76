"""The shortest way from a frame to a delivery.

Two thirds of a busy worker's time go into receiving.  The driver gives each message a hop through a queue and a task of its own;
taking the frames of a delivery where the connection reads them costs 0.4 times as much (docs/adr tells the figures).  This module
alone relies on how aiormq hands frames to a channel: by `channel.frames.put((weight, frame))`.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Final

from aio_pika.abc import AbstractConnection
from aiormq.channel import Channel
from pamqp.body import ContentBody
from pamqp.commands import Basic
from pamqp.header import ContentHeader

from headway.broker.dead import plain, whole
from headway.broker.port import Delivery
from headway.core.errors import Unavailable

OPEN_SECONDS: Final = 5.0

Take = Callable[[Delivery], None]


class Intake(asyncio.Queue[Any]):
    """The frames of one channel: those of a delivery become one at once, all others go the channel's own way.

    Tags are counted on from `offset`, so that the deliveries of successive channels never share one.
    """

    def __init__(self, take: Take, offset: int) -> None:
        super().__init__()
        self._take = take
        self._offset = offset
        self._method: Basic.Deliver | None = None
        self._properties: Basic.Properties = Basic.Properties()
        self._parts: list[bytes] = []
        self._missing = 0

    async def put(self, item: tuple[int, object]) -> None:
        """Take one frame from the connection."""
        frame = item[1]
        if type(frame) is Basic.Deliver:
            self._method = frame
        elif self._method is None:
            self.put_nowait(item)
        elif type(frame) is ContentHeader:
            self._properties = frame.properties
            self._await_bytes(frame.body_size or 0)
        elif type(frame) is ContentBody:
            self._parts.append(frame.value)
            self._await_bytes(self._missing - len(frame.value))
        else:
            self.put_nowait(item)

    def _await_bytes(self, missing: int) -> None:
        self._missing = missing
        if missing <= 0 and self._method is not None:
            method, self._method = self._method, None
            parts, self._parts = self._parts, []
            self._take(
                Delivery(
                    parts[0] if len(parts) == 1 else b"".join(parts),
                    self._properties.message_type or "",
                    method.routing_key or "",
                    plain(self._properties.headers),
                    self._offset + (method.delivery_tag or 0),
                    whole(self._properties.timestamp),
                )
            )


class IntakeChannel(Channel):
    """A channel for consuming only, whose deliveries go straight to `take`."""

    def __init__(self, connection: Any, number: int, intake: Intake) -> None:
        super().__init__(connection, number, publisher_confirms=False)
        self.frames = intake


async def open_intake(connection: AbstractConnection, intake: Intake) -> IntakeChannel:
    """Open a channel on this connection whose deliveries go to the intake."""
    if connection.transport is None:
        raise Unavailable("the broker is not connected")
    driver = connection.transport.connection
    channel = IntakeChannel(driver, max(driver.channels, default=0) + 1, intake)
    driver.channels[channel.number] = channel
    await channel.open(timeout=OPEN_SECONDS)
    return channel
