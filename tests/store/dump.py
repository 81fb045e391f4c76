"""Everything that a database holds, as text: to look for what must not be in it."""

from headway.store.tx import Database

CANARY = 'c4nary-"hush"-ünsaid'


async def places_of(database: Database, text: str) -> list[str]:
    """Return the tables that hold a text, as it is, as JSON quotes it, or as bytes."""
    quoted = text.replace('"', '\\"')
    forms = [text, quoted, quoted.replace("\\", "\\\\").replace('"', '\\"'), text.encode().hex(), quoted.encode().hex()]
    async with database.begin() as tx:
        rows = await tx.connection.fetch(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = $1::text::regnamespace", tx.schema
        )
        dumps = {
            row["relname"]: await tx.connection.fetchval(
                f"SELECT coalesce(string_agg(to_jsonb(t)::text, E'\\n'), '') FROM {tx.schema}.{row['relname']} t"
            )
            for row in rows
        }
    assert dumps["definition"], "it was looked where something is"
    return sorted(name for name, dump in dumps.items() if any(form in dump for form in forms))
