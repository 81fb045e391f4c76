"""A vault that needs no cryptography: it turns texts round, and knows by a number which key it used."""

from collections.abc import Sequence

from headway.core.secret import SecretNotOpenable


class Reversing:
    """Seals by the first of its keys and opens by any of them; no token is the same twice."""

    def __init__(self, *keys: int) -> None:
        self.keys = keys
        self.sealed = 0

    def seal(self, text: str) -> str:
        """Return a token."""
        self.sealed += 1
        return f"{self.keys[0]}-{self.sealed}-{text[::-1]}"

    def open(self, token: str) -> str:
        """Return the text of a token."""
        key, _, rest = token.partition("-")
        if not key.isdecimal() or int(key) not in self.keys:
            raise SecretNotOpenable("no key opens it")
        return rest.partition("-")[2][::-1]

    def marks(self, text: str) -> Sequence[str]:
        """Return one mark for each key."""
        return [f"{key}:{hash(text)}" for key in self.keys]
