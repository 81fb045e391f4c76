"""What stands in the tables, seen past the API."""

from typing import Any, Final

import httpx

from headway.store.tx import Database

WRITTEN: Final = ("definition", "definition_version", "schedule", "run", "run_done", "run_input", "idempotency_key", "audit")
REPORT: Final = {
    "name": "report",
    "queue": "reports",
    "parameters": {"pages": 1},
    "parameter_spec": {
        "type": "object",
        "properties": {
            "customer": {"type": "string"},
            "pages": {"type": "integer", "minimum": 1},
            "filters": {"type": "array", "items": {"type": "object", "properties": {"age": {"type": "integer"}}}},
        },
        "required": ["customer"],
        "additionalProperties": False,
    },
}
NIGHTLY: Final = {"name": "nightly", "cron": "0 7 * * MON-FRI", "zone": "Europe/Berlin", "parameters": {"customer": "all"}}


class Rows:
    """Plain SQL for what a test has to know or to bring about."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def fetch(self, sql: str, *values: Any) -> list[Any]:
        """Return the rows of a query."""
        return await self.database.pool.fetch(sql, *values)

    async def value(self, sql: str, *values: Any) -> Any:
        """Return the first value of a query, or do what a statement says."""
        return await self.database.pool.fetchval(sql, *values)

    async def counts(self) -> dict[str, int]:
        """Return how many rows there are of everything that a request may write."""
        return {table: await self.value(f"SELECT count(*) FROM headway.{table}") for table in WRITTEN}


async def put(api: httpx.AsyncClient, document: dict[str, Any]) -> dict[str, Any]:
    """Create a definition and return what the API shows of it."""
    response = await api.put(f"/v1/definitions/{document['name']}", json=document)
    assert response.status_code == 201, response.text
    shown: dict[str, Any] = response.json()
    return shown


async def ask(api: httpx.AsyncClient, definition: str, **fields: Any) -> dict[str, Any]:
    """Ask for a run and return the answer."""
    response = await api.post("/v1/runs", json={"definition": definition, **fields})
    assert response.status_code in (200, 201), response.text
    answer: dict[str, Any] = response.json()
    return answer


def fields(response: httpx.Response) -> dict[str, str]:
    """Return what is wrong with a request, by field."""
    return {error["field"]: error["message"] for error in response.json()["errors"]}
