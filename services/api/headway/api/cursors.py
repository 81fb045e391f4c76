"""Cursors of keyset pages: opaque, and signed, so that a page begins where an earlier page of the same listing ended or not at all."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from hashlib import blake2b
from hmac import compare_digest
from typing import Final

from headway.api.problems import BAD_CURSOR
from headway.core.errors import Invalid

SEAL_BYTES: Final = 16


class Cursors:
    """Writes and reads cursors; every instance that is given the same secret understands those of the others."""

    def __init__(self, secret: bytes) -> None:
        self._key = blake2b(secret, person=b"headway cursors").digest()

    def write(self, listing: object, position: str) -> str:
        """Return the cursor for what follows `position` in a listing; `listing` has in its text everything that narrows it."""
        body = position.encode()
        return urlsafe_b64encode(self._seal(listing, body) + body).decode().rstrip("=")

    def read(self, listing: object, cursor: str) -> str:
        """Return the position.  Raises Invalid for a cursor that was not written here, or for another listing."""
        try:
            raw = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
        except (Error, ValueError):
            raw = b""
        seal, body = raw[:SEAL_BYTES], raw[SEAL_BYTES:]
        if not compare_digest(seal, self._seal(listing, body)):
            raise Invalid.field("cursor", "is not a cursor of this listing: begin with the first page", code=BAD_CURSOR)
        return body.decode()

    def _seal(self, listing: object, body: bytes) -> bytes:
        return blake2b(f"{listing}\x00".encode() + body, key=self._key, digest_size=SEAL_BYTES).digest()
