"""The vault of secret parameters: Fernet tokens (AES-128-CBC with HMAC-SHA256) by the keys of the settings."""

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from hashlib import blake2b
from secrets import token_bytes
from typing import TYPE_CHECKING, Final

from headway.core.secret import SETTING, SecretNotOpenable, Vault
from headway.runtime.settings.groups import SecretsGroup
from headway.runtime.settings.urls import KEY_BYTES, Secret, key_bytes

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

_MARKS: Final = b"headway mark"


def vault_of(settings: SecretsGroup) -> Vault | None:
    """Return the vault of a process, None when no key is configured."""
    return Keyring(settings.keys) if settings.keys else None


def new_key() -> str:
    """Return a key that nobody has."""
    return urlsafe_b64encode(token_bytes(KEY_BYTES)).decode()


class Keyring:
    """Seals by the first of its keys and opens by any of them."""

    def __init__(self, keys: Sequence[Secret]) -> None:
        self._keys = [key_bytes(key.reveal()) for key in keys]
        self._fernet = _fernet(self._keys)

    def seal(self, text: str) -> str:
        """Return a token of a text, by the newest key; never the same twice."""
        return self._fernet.encrypt(text.encode()).decode()

    def open(self, token: str) -> str:
        """Return the text of a token.  Raises SecretNotOpenable."""
        from cryptography.fernet import InvalidToken

        try:
            return self._fernet.decrypt(token.encode()).decode()
        except InvalidToken:
            raise SecretNotOpenable(f"none of the keys of {SETTING} opens it: add the one that it was sealed with behind them") from None

    def marks(self, text: str) -> list[str]:
        """Return what stands for a text and tells nothing of it: one mark for each key, the newest first."""
        return [blake2b(text.encode(), digest_size=16, key=key, person=_MARKS).hexdigest() for key in self._keys]


def _fernet(keys: Sequence[bytes]) -> "MultiFernet":
    from cryptography.fernet import Fernet, MultiFernet  # a process that keeps no secrets does not hold it

    return MultiFernet([Fernet(urlsafe_b64encode(key)) for key in keys])
