"""PgQueuer on PostgreSQL (asyncpg pool driver).  --prefetch is its dequeue batch size."""

import asyncio
import logging
import struct
from datetime import timedelta
from typing import Any

import asyncpg
from pgqueuer import QueueManager
from pgqueuer.adapters.drivers.asyncpg import AsyncpgPoolDriver
from pgqueuer.queries import Queries

from bench import PG_DSN, Bench, arguments
from measure import main
from probe import probe


class PgQueuerBench(Bench):
    """The bar."""

    name = "pgqueuer"
    packages = ("pgqueuer", "asyncpg")
    bulk = True
    unfinished_sql = "select count(*) from pgqueuer"

    async def open(self) -> None:
        self.pool = await asyncpg.create_pool(PG_DSN, min_size=1, max_size=4)
        self.queries = Queries(AsyncpgPoolDriver(self.pool))
        if not await self.pool.fetchval("select to_regclass('pgqueuer')"):
            await self.queries.install()

    async def close(self) -> None:
        await self.pool.close()

    async def reset(self) -> None:
        await self.pool.execute("truncate pgqueuer, pgqueuer_log, pgqueuer_statistics cascade")

    async def put(self, sent: float) -> None:
        await self.queries.enqueue("noop", struct.pack("=d", sent), 0)

    async def put_many(self, count: int) -> None:
        payload = struct.pack("=d", 0.0)
        await self.queries.enqueue(["noop"] * count, [payload] * count, [0] * count)

    def run_worker(self) -> None:
        logging.disable(logging.CRITICAL)
        asyncio.run(self._work())

    async def _work(self) -> None:
        async with asyncpg.create_pool(PG_DSN, min_size=2, max_size=10) as pool:
            manager = QueueManager(Queries(AsyncpgPoolDriver(pool)))

            @manager.entrypoint("noop")
            async def noop(job: Any) -> None:
                probe.hit(struct.unpack("=d", job.payload)[0])

            await manager.run(
                dequeue_timeout=timedelta(seconds=1),
                batch_size=self.args.prefetch,
                max_concurrent_tasks=max(2 * self.args.prefetch, self.args.concurrency),
            )


if __name__ == "__main__":
    main(PgQueuerBench(arguments()))
