"""A PostgreSQL server that a test may stop and kill, because nobody else uses it."""

import os
import secrets
import signal

from headway.cli.embedded.binaries import installed, wheel
from headway.cli.embedded.cluster import EmbeddedPostgres
from tests.harness.rundir import RunDir


class PostgresNode:
    """A durable server (fsync is on) of the binaries of this machine; its URL stays the same from start to start."""

    def __init__(self, run: RunDir) -> None:
        self._run = run
        self._server = EmbeddedPostgres(run.path / f"postgres-{secrets.token_hex(4)}", candidates=[*installed(), *wheel()])
        self._group = 0
        self.url = ""

    async def start(self) -> None:
        """Start it, recovering if it was killed, and return when it takes connections."""
        self.url = await self._server.start()
        self._group = self._server.pid or 0
        self._run.register_group(self._group, signal.SIGQUIT)

    async def stop(self) -> None:
        """Shut it down in order: clients are cut off."""
        await self._server.stop()
        self._run.forget_group(self._group)

    async def kill(self) -> None:
        """SIGKILL for the main process: the others end themselves, and the next start recovers."""
        os.kill(self._group, signal.SIGKILL)
        self._run.forget_group(self._group)
