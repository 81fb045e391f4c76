"""From bytes to messages and back."""

from typing import Annotated, Final
from uuid import UUID

from pydantic import Field, TypeAdapter, ValidationError

from headway.messages.bodies import Message, RunCreated

LONGEST_BARE_ID: Final = 40
_ANY: Final[TypeAdapter[Message]] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


class Unparseable(ValueError):
    """These bytes are no message that this release understands; an unknown major version is one of the reasons."""


def parse(body: bytes) -> Message:
    """Return the message that `body` holds.

    A body that is a bare run id is a `RunCreated` whose queue is empty.  Raises Unparseable for anything else that is no message.
    """
    try:
        return _ANY.validate_json(body)
    except ValidationError as error:
        if (bare := _bare_id(body)) is not None:
            return RunCreated(queue="", runs=(bare,))
        raise Unparseable(_reason(error)) from error


def encode(message: Message) -> bytes:
    """Return the bytes that `parse` turns into an equal message."""
    return message.__pydantic_serializer__.to_json(message)


def _bare_id(body: bytes) -> UUID | None:
    if len(body) > LONGEST_BARE_ID:
        return None
    try:
        return UUID(body.decode("ascii").strip().strip('"'))
    except ValueError:
        return None


def _reason(error: ValidationError) -> str:
    """Say what is wrong, without the input: it may be large, or somebody's secret."""
    first, *others = error.errors(include_url=False, include_context=False, include_input=False)
    where = ".".join(str(part) for part in first["loc"])
    more = f" (and {len(others)} more)" if others else ""
    return f"{where}: {first['msg']}{more}" if where else f"{first['msg']}{more}"
