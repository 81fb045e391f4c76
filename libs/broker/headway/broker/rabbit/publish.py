"""Letters go out, each with the broker's word on what became of it."""

import asyncio
import logging
from typing import Final
from uuid import uuid4

from aio_pika.abc import AbstractChannel, AbstractConnection
from aio_pika.exceptions import DeliveryError
from aiormq.abc import AbstractChannel as DriverChannel
from pamqp.commands import Basic

from headway.broker.counts import BrokerCounts
from headway.broker.port import Letter, Receipt
from headway.broker.rabbit.faults import TROUBLE, asked_to_end
from headway.broker.topology import Topology

log = logging.getLogger(__name__)

PUBLISH_SECONDS: Final = 5.0
MOST_UNANSWERED: Final = 1000
"""How many letters wait for the broker's word at once; a broker that takes none would otherwise fill our memory."""
PERSISTENT: Final = 2


class Publisher:
    """Publishes with confirms over one channel; mandatory letters that no queue takes are refused."""

    def __init__(self, topology: Topology, counts: BrokerCounts) -> None:
        self._topology = topology
        self._counts = counts
        self._channel: AbstractChannel | None = None
        self._driver: DriverChannel | None = None
        self._unanswered = 0
        self._stalled = False

    async def open(self, connection: AbstractConnection) -> DriverChannel:
        """Publish over a new channel of this connection from now on."""
        self._channel = channel = connection.channel(publisher_confirms=True, on_return_raises=True)
        await channel.initialize()
        self._driver = driver = await channel.get_underlay_channel()
        self._stalled = False
        return driver

    async def publish(self, letter: Letter) -> Receipt:
        """Publish one letter and say what is known of it; never raises for a broker that is away."""
        driver = self._driver
        if driver is None or driver.is_closed or self._unanswered >= self._most_unanswered:
            receipt = Receipt.REFUSED
        else:
            receipt = await self._send(driver, letter)
        self._counts.published[letter.exchange, receipt.value] += 1
        return receipt

    @property
    def _most_unanswered(self) -> int:
        """A broker that did not answer gets one letter at a time until it does: nobody else waits for it."""
        return 1 if self._stalled else MOST_UNANSWERED

    async def _send(self, driver: DriverChannel, letter: Letter) -> Receipt:
        self._unanswered += 1
        try:
            await driver.basic_publish(
                letter.body,
                exchange=self._topology.full(letter.exchange),
                routing_key=letter.routing_key,
                properties=properties(letter),
                mandatory=letter.mandatory,
                timeout=PUBLISH_SECONDS,
            )
        except (DeliveryError, ValueError) as error:
            log.debug("letter was refused", extra={"exchange": letter.exchange, "key": letter.routing_key, "error": str(error)})
            self._stalled = False
            return Receipt.REFUSED
        except asyncio.CancelledError:
            if asked_to_end():
                raise
            return Receipt.UNKNOWN
        except TROUBLE as error:
            self._stalled = isinstance(error, TimeoutError)
            return Receipt.UNKNOWN
        finally:
            self._unanswered -= 1
        self._stalled = False
        return Receipt.CONFIRMED


def properties(letter: Letter) -> Basic.Properties:
    """Return what AMQP says about a letter beside its body."""
    return Basic.Properties(
        content_type="application/json",
        delivery_mode=PERSISTENT,
        headers=dict(letter.headers),
        message_id=uuid4().hex,
        message_type=letter.type,
        priority=letter.priority,
        timestamp=letter.at,
    )
