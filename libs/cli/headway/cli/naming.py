"""Things that belong to a definition, as people name them: by an id, or as DEFINITION/NAME."""

from collections.abc import Iterator
from typing import Any

from headway.core.errors import NotFound


def identity_of(api: Any, text: str, kind: str, owner: str) -> str:
    """Return the id of one of the things under `/v1/{kind}`; `owner` is the field that has its definition.  Raises NotFound.

    Both names may hold slashes: of several readings the one with the longest definition holds.
    """
    readings = list(splits(text))
    if not readings:
        return text
    for definition, name in readings:
        for one in api.items(f"/v1/{kind}", **{owner: definition}):
            if one["name"] == name:
                return str(one["id"])
    raise NotFound(f"{kind.removesuffix('s')}: there is no {text!r}; headway {kind} list shows all")


def splits(text: str) -> Iterator[tuple[str, str]]:
    """Yield every reading of DEFINITION/NAME, the longest definition first."""
    for at in reversed([at for at, character in enumerate(text) if character == "/"]):
        if text[:at] and text[at + 1 :]:
            yield text[:at], text[at + 1 :]
