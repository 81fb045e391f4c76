"""Write the contracts that others may rely on: `python -m headway.messages.contracts DIR`."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from headway.messages.asyncapi import Json, document
from headway.messages.bodies import MESSAGES, type_of

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def contracts() -> Mapping[PurePosixPath, str]:
    """Return every generated file by its path below the contracts folder."""
    schemas: dict[str, Json] = {
        f"messages/{type_of(kind)}.json": {"$schema": DIALECT, "$id": type_of(kind)} | kind.model_json_schema() for kind in MESSAGES
    }
    return {PurePosixPath(path): _text(value) for path, value in (schemas | {"asyncapi.json": document()}).items()}


def write(folder: Path) -> int:
    """Write the contracts below `folder` and say how many files they are; schemas of forgotten messages are removed."""
    files = contracts()
    for stale in (folder / "messages").glob("*.json"):
        if PurePosixPath("messages", stale.name) not in files:
            stale.unlink()
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return len(files)


def _text(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m headway.messages.contracts DIR")
    write(Path(sys.argv[1]))
