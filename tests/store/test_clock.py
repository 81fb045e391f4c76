"""One clock: the database's, read through one function."""

import re
from datetime import timedelta
from importlib import import_module
from pkgutil import iter_modules

from headway import store
from headway.store.statement import REGISTRY
from tests.store.scene import Scene

CLOCK = re.compile(
    r"\b(clock_timestamp|transaction_timestamp|statement_timestamp|current_timestamp|localtimestamp|now)\s*\(?", re.IGNORECASE
)


def test_no_statement_reads_another_clock() -> None:
    """Every lease, due check and decision is made by `headway_now()`: no statement calls the server's clock itself (LSE-09)."""
    for module in iter_modules(store.__path__):
        import_module(f"headway.store.{module.name}")
    assert len(REGISTRY) > 50
    for statement in REGISTRY.values():
        text = re.sub(r"headway\.headway_now\(\)|AS now\b|\w+\.now\b|headway_now_\d", "", statement.text("headway"))
        assert not CLOCK.search(text), statement.name


async def test_the_clock_moves_for_every_connection(scene: Scene) -> None:
    """An offset is seen by connections that are open already (CAL-14)."""
    async with scene.database.begin() as tx:
        before = tx.now
        await scene.later(timedelta(days=400))
        async with scene.database.begin() as other:
            assert other.now - before > timedelta(days=399)
