"""RabbitMQ and memory behind one protocol."""

from headway.broker.connect import connect
from headway.broker.counts import BrokerCounts
from headway.broker.hints import Queued
from headway.broker.port import Broker, Consumer, DeadLetter, Delivery, Letter, Receipt

__all__ = ["Broker", "BrokerCounts", "Consumer", "DeadLetter", "Delivery", "Letter", "Queued", "Receipt", "connect"]
