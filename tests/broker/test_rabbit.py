"""RabbitMQ, held to what every broker promises."""

import pytest

from tests.broker.conformance import Conformance
from tests.broker.conftest import MakeBroker
from tests.broker.counted_conformance import CountedConformance


class _OverRabbit:
    @pytest.fixture
    def make(self, make_rabbit: MakeBroker) -> MakeBroker:
        """The RabbitMQ adapter."""
        return make_rabbit


class TestRabbit(_OverRabbit, Conformance):
    """MSG-01 to MSG-17 over RabbitMQ."""


class TestRabbitCounted(_OverRabbit, CountedConformance):
    """MSG-08 and MSG-17 over RabbitMQ."""
