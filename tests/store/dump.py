"""Everything that a database holds, as text: to look for what must not be in it."""

import re

from headway.store.tx import Database

CANARY = 'c4nary-"hush"-ünsaid'


async def places_of(database: Database, text: str) -> list[str]:
    """Return the tables that hold a text, or a part of it.

    It is looked for by its plain letters and digits, as they are and as bytes: however its other characters are quoted, those stay.
    """
    parts = [part for part in re.findall(r"[A-Za-z0-9]+", text) if len(part) >= 4]
    assert parts, "there is something to look for"
    tables = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = $1::text::regnamespace"
    async with database.begin() as tx:
        rows = await tx.connection.fetch(tables, tx.schema)
        dumps = {
            row["relname"]: await tx.connection.fetchval(
                f"SELECT coalesce(string_agg(to_jsonb(t)::text, E'\\n'), '') FROM {tx.schema}.{row['relname']} t"
            )
            for row in rows
        }
    assert dumps["definition"], "it was looked where something is"
    return sorted(name for name, dump in dumps.items() if any(form in dump for part in parts for form in (part, part.encode().hex())))
