"""Write the contract of the HTTP surface: `python -m headway.api.contracts DIR`."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from headway.api.surface import openapi, surface

OPENAPI = PurePosixPath("openapi.json")


def contracts() -> Mapping[PurePosixPath, str]:
    """Return every generated file by its path below the contracts folder."""
    return {OPENAPI: json.dumps(openapi(surface()), indent=2, ensure_ascii=False) + "\n"}


def write(folder: Path) -> int:
    """Write the contract below `folder` and say how many files it is."""
    files = contracts()
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")
    return len(files)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m headway.api.contracts DIR")
    write(Path(sys.argv[1]))
