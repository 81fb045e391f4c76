"""Headway on PostgreSQL and RabbitMQ, through the SDK and the `worker` service, with everything that a user gets."""

import argparse
import asyncio
import os
import sys
from urllib.parse import urlsplit, urlunsplit

import aio_pika
import asyncpg

from bench import AMQP_URL, HERE, PG_DSN, Bench, arguments
from headway.broker.connect import connect
from headway.sdk.client import Client
from headway.sdk.sync import sync
from headway.store.migrate import migrate
from headway.store.tx import Database
from headway_jobs import Noop, app, noop
from measure import main

PREFIX = "bench."
DATABASE = "headway_bench"
EMPTY = (
    "truncate headway.run, headway.run_done, headway.run_input, headway.attempt, headway.reaction, headway.session, headway.idempotency_key"
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Options of this peer alone."""
    parser.add_argument("--broker", choices=["rabbit", "away"], default="rabbit", help="away: nobody listens at the broker's URL")


def url_of(database: str) -> str:
    """The benchmark's server with another database."""
    return urlunsplit(urlsplit(PG_DSN)._replace(path=f"/{database}"))


class HeadwayBench(Bench):
    """Ourselves."""

    name = "headway"
    packages = ("headway-worker", "aio-pika", "asyncpg")
    bulk = True
    concurrent = True
    unfinished_sql = "select count(*) from headway.run"

    @property
    def broker_url(self) -> str:
        """RabbitMQ, or a port that nobody listens on."""
        return AMQP_URL if self.args.broker == "rabbit" else "amqp://127.0.0.1:9/"

    def pg_dsn(self) -> str:
        return url_of(DATABASE)

    async def open(self) -> None:
        server = await asyncpg.connect(PG_DSN)
        if not await server.fetchval("select 1 from pg_database where datname = $1", DATABASE):
            await server.execute(f"create database {DATABASE}")
        await server.close()
        await migrate(self.pg_dsn())
        self.database = await Database.open(self.pg_dsn(), size=4, name="bench")
        self.broker = connect(self.broker_url, prefix=PREFIX)
        await self.broker.open()
        await self.broker.declare_run_queues(["default"])
        self.client = Client(self.database, self.broker, created_by="bench")
        app.bind(self.client)
        await sync(self.database, app, actor="bench")

    async def close(self) -> None:
        await self.client.close()
        await self.broker.close()
        await self.database.close()

    async def reset(self) -> None:
        async with self.database.begin() as tx:
            await tx.run(EMPTY)
        if self.args.broker == "rabbit":
            async with await aio_pika.connect(AMQP_URL) as connection:
                channel = await connection.channel()
                await (await channel.get_queue(f"{PREFIX}run.default", ensure=False)).purge()

    async def put(self, sent: float) -> None:
        await noop.enqueue(Noop(sent=sent))

    async def put_many(self, count: int) -> None:
        await app.enqueue_many([noop.ask(Noop()) for _ in range(count)])

    def worker_argv(self) -> list[str]:
        os.environ["HEADWAY_DATABASE_URL"] = self.pg_dsn()
        os.environ["HEADWAY_BROKER_URL"] = self.broker_url
        os.environ["HEADWAY_BROKER_PREFIX"] = PREFIX
        os.environ["HEADWAY_WORKER__CONCURRENCY"] = str(self.args.concurrency)
        os.environ["HEADWAY_HEALTH_PORT"] = "0"
        os.environ["HEADWAY_LOG_LEVEL"] = "warning"
        return [sys.executable, str(HERE / "headway_worker.py")]


if __name__ == "__main__":
    bench = HeadwayBench(arguments(configure))
    asyncio.set_event_loop(bench.loop)
    main(bench)
