"""Taskiq over taskiq-aio-pika with results in PostgreSQL (taskiq-postgres): our shape, a broker and a database.

A worker is one `taskiq worker --workers 1` command.  Taskiq-aio-pika publishes with confirms.
"""

import sys
from pathlib import Path

import aio_pika
import asyncpg
from taskiq_aio_pika import AioPikaBroker, Exchange, Queue, QueueType
from taskiq_pg.asyncpg import AsyncpgResultBackend

from bench import AMQP_URL, PG_DSN, Bench, arguments
from measure import main
from probe import probe

QUEUE = "bench_taskiq_classic"
args = arguments()
broker = AioPikaBroker(AMQP_URL, qos=args.prefetch, exchange=Exchange(name="bench_taskiq"))
broker = broker.with_result_backend(AsyncpgResultBackend(dsn=PG_DSN, table_name="taskiq_bench"))
broker = broker.with_queue(Queue(name=QUEUE, type=QueueType("classic")))


@broker.task(task_name="noop")
async def noop(sent: float) -> None:
    """Do nothing but be counted."""
    probe.hit(sent)


class TaskiqBench(Bench):
    """The peer of our shape."""

    name = "taskiq"
    packages = ("taskiq", "taskiq-aio-pika", "aio-pika", "aiormq")
    unfinished_sql = "select greatest(0, :n - count(*)) from taskiq_bench"

    async def open(self) -> None:
        await broker.startup()

    async def close(self) -> None:
        await broker.shutdown()

    async def put(self, sent: float) -> None:
        await noop.kiq(sent)

    async def reset(self) -> None:
        async with await aio_pika.connect(AMQP_URL) as connection:
            channel = await connection.channel()
            await (await channel.get_queue(QUEUE)).purge()
        connection = await asyncpg.connect(PG_DSN)
        await connection.execute("truncate taskiq_bench")
        await connection.close()

    def worker_argv(self) -> list[str]:
        taskiq = str(Path(sys.executable).parent / "taskiq")
        most = ["--max-async-tasks", str(args.concurrency), "--max-prefetch", str(args.prefetch)]
        return [taskiq, "worker", "--workers", "1", *most, "--ack-type", "when_saved", "--log-level", "ERROR", "taskiq_peer:broker"]


if __name__ == "__main__":
    main(TaskiqBench(args))
