"""Settings that hold secrets: URLs with passwords, and keys.  Neither shows what it hides unless it is asked by `reveal`."""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Self, TypeAlias
from urllib.parse import SplitResult, urlsplit

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

MASK: Final = "***"
KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A text that logs, errors and dumps show as three stars."""

    _text: str

    def reveal(self) -> str:
        """The text itself."""
        return self._text

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__


@dataclass(frozen=True, slots=True, repr=False)
class Url:
    """An address that logs, errors and dumps show without its password and its query."""

    _text: str

    @classmethod
    def parse(cls, text: str, schemes: tuple[str, ...]) -> Self:
        """Check the text.  Raises ValueError, which never quotes it."""
        try:
            parts = urlsplit(text.strip())
            _require_port(parts)
        except ValueError:
            raise ValueError(f"is no URL; characters like / ? # @ in a password are written with %, see {_example(schemes)}") from None
        if parts.scheme not in schemes:
            raise ValueError(f"must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}, see {_example(schemes)}")
        if parts.fragment or "@" in parts.path:
            raise ValueError(f"must have characters like / ? # @ of a password written with %, see {_example(schemes)}")
        return cls(text.strip())

    @property
    def scheme(self) -> str:
        """What stands before `://`."""
        return urlsplit(self._text).scheme

    def reveal(self) -> str:
        """The URL as a driver needs it, password included."""
        return self._text

    def __repr__(self) -> str:
        parts = urlsplit(self._text)
        user, at, hosts = parts.netloc.rpartition("@")
        name, colon, _ = user.partition(":")
        return f"{parts.scheme}://{name}{colon and ':' + MASK}{at}{hosts}{parts.path}"

    __str__ = __repr__


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What a source puts in the place of a secret whose file it cannot read, so that this is reported beside all other problems."""

    file: Path
    why: str


class SecretKnob:
    """Marks a field whose value may also come from the file that `<NAME>_FILE` names."""


EXAMPLES: Final = {
    "postgresql": "postgresql://user:password@localhost:5432/headway",
    "amqp": "amqp://user:password@localhost:5672/ or memory://",
    "http": "http://127.0.0.1:8080",
}


def _example(schemes: tuple[str, ...]) -> str:
    return EXAMPLES[schemes[0]]


def _require_port(parts: SplitResult) -> None:
    """Each host's port is a number: a password with a slash in it would stand there otherwise."""
    hosts = parts.netloc.rpartition("@")[2]
    for host in hosts.split(","):
        _, colon, port = host.rpartition("]")[2].rpartition(":")
        if colon and not port.isdecimal():
            raise ValueError


def _url(*schemes: str) -> Callable[[Any], Url]:
    def check(value: Any) -> Url:
        text = _text(value)
        return Url.parse(text, schemes)

    return check


def _secret(value: Any) -> Secret:
    text = _text(value)
    if not text:
        raise ValueError("is empty")
    return Secret(text)


def key_bytes(text: str) -> bytes:
    """Return a key of 32 bytes from its base64, in either alphabet.  Raises ValueError, which never quotes it."""
    try:
        found = b64decode(text.strip().translate(_ONE_ALPHABET), validate=True)
    except ValueError:
        found = b""
    if len(found) != KEY_BYTES:
        raise ValueError("must be keys of 32 bytes in base64, as `openssl rand -base64 32` makes them")
    return found


def _keys(value: Any) -> tuple[Secret, ...]:
    parts = value if isinstance(value, list | tuple) else _text(value).replace(",", " ").split()
    keys = tuple(_secret(part) for part in parts)
    for key in keys:
        key_bytes(key.reveal())
    return keys


def _text(value: Any) -> str:
    match value:
        case str():
            return value
        case Url() | Secret():
            return value.reveal()
        case Unreadable(file, why):
            raise ValueError(f"cannot be read from {file}: {why}")
        case _:
            raise ValueError("must be a text")


_ONE_ALPHABET: Final = str.maketrans("-_", "+/")
_SHOWN: Final = (PlainSerializer(str), WithJsonSchema({"type": "string"}), SecretKnob())

DatabaseUrl: TypeAlias = Annotated[Url, PlainValidator(_url("postgresql")), *_SHOWN]
BrokerUrl: TypeAlias = Annotated[Url, PlainValidator(_url("amqp", "amqps", "memory")), *_SHOWN]
SecretText: TypeAlias = Annotated[Secret, PlainValidator(_secret), *_SHOWN]
SecretKeys: TypeAlias = Annotated[
    tuple[Secret, ...],
    PlainValidator(_keys),
    PlainSerializer(lambda keys: [str(key) for key in keys]),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
    SecretKnob(),
]
HttpUrl: TypeAlias = Annotated[Url, PlainValidator(_url("http", "https")), PlainSerializer(str), WithJsonSchema({"type": "string"})]
