"""What the platform makes of a translation."""

from typing import Any

from headway.cli.importing.translation import Translation
from headway.core.draft import parse_document
from headway.store import catalogue
from headway.store.tx import Database


def definitions(translation: Translation) -> list[dict[str, Any]]:
    """The definitions of a translation, after the platform has accepted them."""
    found: list[dict[str, Any]] = translation.document["definitions"]
    if found:
        parse_document(translation.document)
    return found


def reasons(translation: Translation) -> list[str]:
    """Why things are not taken, with their lines."""
    return [f"{refused.line} {refused.reason}" for refused in translation.refused]


async def changes(database: Database, translation: Translation) -> list[str]:
    """What applying a translation changes."""
    async with database.begin() as tx:
        saved = [await catalogue.save(tx, draft, actor="import") for draft in parse_document(translation.document)]
    return [one.change for one in saved if one.change]
