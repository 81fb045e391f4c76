"""Tell every scheduler that a definition changed, for services that edit definitions in their own way; no database driver is needed."""

from datetime import datetime, timedelta
from typing import Annotated, Final

from pydantic import Field

from headway.broker import hints
from headway.broker.connect import connect
from headway.broker.port import Receipt
from headway.core.errors import Unavailable
from headway.messages import DefinitionChanged
from headway.messages.bodies import Change
from headway.messages.channels import PREFIX
from headway.runtime.settings import load
from headway.runtime.settings.processes import Configured
from headway.runtime.settings.urls import BrokerUrl

PATIENCE: Final = timedelta(seconds=5)
UNKNOWN_VERSION: Final = 0


class BrokerSettings(Configured):
    """Where the broker is: all that an announcement needs."""

    broker_url: BrokerUrl = Field(description="RabbitMQ, amqp:// or amqps://.")
    broker_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{0,64}$")] = Field(
        PREFIX, description="What the names of all exchanges and queues begin with."
    )


async def announce_definition_changed(
    name: str, tenant: str = "", change: Change = "updated", *, at: datetime | None = None, broker_url: str | None = None
) -> None:
    """Have every scheduler read a definition again; without it they do so at their next refresh, within 30 seconds.

    `at` is the instant of the change.  The broker is where `broker_url` says, or else HEADWAY_BROKER_URL.  Raises Invalid for bad
    settings, Unavailable when the broker does not take the message.
    """
    settings = load(BrokerSettings, broker_url=broker_url)
    message = DefinitionChanged(tenant=tenant, definition=name, version=UNKNOWN_VERSION, change=change)
    broker = connect(settings.broker_url.reveal(), prefix=settings.broker_prefix)
    await broker.open()
    try:
        await broker.ready(PATIENCE)
        receipt = await broker.publish(hints.letter(message, at=at))
    finally:
        await broker.close()
    if receipt is not Receipt.CONFIRMED:
        raise Unavailable(f"broker: the announcement was {receipt.value}")
