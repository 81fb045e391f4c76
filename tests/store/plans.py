"""Ask PostgreSQL how it would run a statement, and hold the answer against the index that the statement is built for."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson

from headway.store.statement import Statement
from headway.store.tx import Tx

Node = Mapping[str, Any]


async def plan_of(tx: Tx, one: Statement, values: Mapping[str, Any], mode: str) -> Node:
    """The plan of a statement with these values, custom for them or generic for any."""
    await tx.run(f"SET LOCAL plan_cache_mode = {mode}")
    await tx.run(f"PREPARE probe AS {one.text(tx.schema)}")
    given = ", ".join(literal(value) for value in one.arguments(values))
    try:
        (row,) = await tx.connection.fetch(f"EXPLAIN (FORMAT JSON) EXECUTE probe({given})")
    finally:
        await tx.run("DEALLOCATE probe")
    plan: Node = orjson.loads(row[0])[0]["Plan"]
    return plan


def literal(value: Any) -> str:
    """A value as a literal whose type the statement knows."""
    match value:
        case None:
            return "NULL"
        case list():
            return "'{" + ",".join("NULL" if one is None else f'"{plain(one)}"' for one in value) + "}'"
        case _:
            return f"'{plain(value)}'"


def plain(value: Any) -> str:
    """A value as PostgreSQL reads it."""
    match value:
        case datetime():
            return value.isoformat()
        case timedelta():
            return f"{value.total_seconds()} seconds"
        case _:
            return str(value)


def nodes(plan: Node) -> Iterator[Node]:
    """A plan's node and all below it."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


def complaints(plan: Node, table: str, indexes: set[str]) -> list[str]:
    """What is wrong with a plan that should reach `table` by exactly these indexes."""
    scans = [node["Node Type"] for node in nodes(plan) if node.get("Relation Name") == table and node["Node Type"] == "Seq Scan"]
    used = {node["Index Name"] for node in nodes(plan) if node.get("Index Name", "").startswith(f"{table}_")}
    wrong = [] if used == indexes else [f"uses {sorted(used)} and not {sorted(indexes)}"]
    return [*(f"reads all of {table}" for _ in scans), *wrong]
