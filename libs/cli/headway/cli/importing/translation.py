"""What every import gives: a document for `headway definitions apply`, and what it leaves out."""

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from headway.core.draft import NAME, parse_definition
from headway.core.errors import Invalid

ATTEMPTS: Final = 3
LONGEST_SLUG: Final = 40
_LONGEST_TEXT: Final = 200


@dataclass(frozen=True, slots=True)
class Refused:
    """Something at a line that was not taken, or not as a whole, and why."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Translation:
    """The document that `headway definitions apply` takes, and what it leaves out."""

    document: dict[str, Any]
    refused: tuple[Refused, ...]


@dataclass
class Gathering:
    """Definitions of one file as they are found, each under its name once, and what cannot be taken."""

    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)

    def refuse(self, line: int, text: str, reason: str) -> None:
        """Note what is not taken, or not as a whole."""
        self.refused.append(Refused(line, " ".join(text.split())[:_LONGEST_TEXT], reason))

    def add(self, line: int, text: str, definition: dict[str, Any]) -> bool:
        """Take a definition that the platform would take; False, and a note, for any other."""
        try:
            parse_definition(definition)
        except Invalid as error:
            self.refuse(line, text, "; ".join(map(str, error.problems)))
            return False
        if self.definitions.setdefault(definition["name"], definition) is not definition:
            self.refuse(line, text, f"{definition['name']} stands there twice: the first is taken")
            return False
        return True

    def translation(self) -> Translation:
        """Return what was found, in the order of the file."""
        refused = sorted(self.refused, key=lambda one: one.line)
        return Translation({"definitions": list(self.definitions.values())}, tuple(refused))


def definition_name(name: str) -> str:
    """Return a name as definitions have it: itself where it may stand, else what is readable of it, told apart by a hash."""
    return name if NAME.fullmatch(name) else slugged(name, name, "imported")


def slugged(text: str, identity: str, otherwise: str) -> str:
    """Return the readable part of a text with a hash of what it stands for."""
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST_SLUG].strip("-")
    return f"{slug or otherwise}-{digest(identity)}"


def digest(text: str) -> str:
    """Return eight characters that stand for a text."""
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
