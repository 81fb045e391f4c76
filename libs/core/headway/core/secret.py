"""Secret parameters: how their values are kept, shown, compared and opened.

In rows a secret value is `{"$secret": token}`, whatever kind of JSON it is; a `Vault` makes tokens of texts and texts of tokens.  What a
caller passes never looks like that: `lookalikes` says so at every edge.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from headway.core.errors import Conflict, Problem
from headway.core.reading import demand
from headway.core.safe import MASK
from headway.core.secret_names import Secrets

SEAL: Final = "$secret"
SETTING: Final = "HEADWAY_SECRETS__KEYS"
FEWEST: Final = 4  # characters of a text that is hidden: shorter ones stand in too much that is no secret


class SecretNotOpenable(Conflict):
    """No key that is configured here opens a value: it was sealed with one that is gone, or is no token at all."""

    code = "secret_not_openable"


class Vault(Protocol):
    """What seals and opens secret values; whoever has none may neither keep nor read them."""

    def seal(self, text: str) -> str:
        """Return a token of a text, by the newest key; never the same twice."""

    def open(self, token: str) -> str:
        """Return the text of a token.  Raises SecretNotOpenable."""

    def marks(self, text: str) -> Sequence[str]:
        """Return what stands for a text and tells nothing of it: one mark for each key, the newest first."""


def is_sealed(value: Any) -> bool:
    """Whether a value is a secret as rows hold it."""
    return isinstance(value, Mapping) and value.keys() == {SEAL} and isinstance(value[SEAL], str)


def lookalikes(values: Mapping[str, Any], path: str) -> list[Problem]:
    """Return a problem for each parameter of a caller that could be taken for a sealed one."""
    return [
        Problem(f"{path}.{name}", f"must not hold {SEAL}: that is how secrets are kept")
        for name, value in values.items()
        if isinstance(value, Mapping) and SEAL in value
    ]


def refusals(
    values: Mapping[str, Any], secrets: Secrets, vault: Vault | None, *, path: str, kept: Mapping[str, Any] | None = None
) -> list[Problem]:
    """Return a problem for each parameter that `sealed` cannot seal: one that is masked and stands nowhere, or that there is no key for."""
    standing = _standing(kept)
    bare = {name: value for name, value in values.items() if _is_bare(name, value, secrets) and not _is_kept(name, value, standing)}
    return [
        Problem(
            f"{path}.{name}", "is masked: give the secret itself" if value == MASK else f"is secret, and there is no key: set {SETTING}"
        )
        for name, value in bare.items()
        if value == MASK or vault is None
    ]


def sealed(
    values: Mapping[str, Any], secrets: Secrets, vault: Vault | None, *, path: str, kept: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return parameters with every secret one sealed, those that are sealed already as they are.

    A value that is the same as the one in `kept`, or that was masked when it was read, is that one, token and all.  Raises Invalid with
    everything that `refusals` finds.
    """
    demand(refusals(values, secrets, vault, path=path, kept=kept))
    standing = _standing(kept)
    found = dict(values)
    for name, value in values.items():
        if _is_kept(name, value, standing):
            found[name] = standing[name.casefold()]
        elif vault is not None and _is_bare(name, value, secrets):
            found[name] = _sealed(_text(value), standing.get(name.casefold()), vault)
    return found


def _standing(kept: Mapping[str, Any] | None) -> dict[str, Mapping[str, str]]:
    return {name.casefold(): value for name, value in (kept or {}).items() if is_sealed(value)}


def _is_kept(name: str, value: Any, standing: Mapping[str, Any]) -> bool:
    return value == MASK and name.casefold() in standing


def _is_bare(name: str, value: Any, secrets: Secrets) -> bool:
    return secrets.covers(name) and not is_sealed(value)


def _sealed(text: str, standing: Mapping[str, str] | None, vault: Vault) -> Mapping[str, str]:
    return standing if standing is not None and _opens_to(standing, text, vault) else {SEAL: vault.seal(text)}


def masked(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as they may be shown."""
    return {name: MASK if is_sealed(value) else value for name, value in values.items()}


def opened(values: Mapping[str, Any], vault: Vault | None) -> dict[str, Any]:
    """Return parameters as whoever holds the run's lease may read them.  Raises SecretNotOpenable, naming the parameter."""
    return {name: _opened(name, value, vault) if is_sealed(value) else value for name, value in values.items()}


def marked(values: Mapping[str, Any], secrets: Secrets, vault: Vault) -> list[dict[str, Any]]:
    """Return parameters with marks in the place of secrets, which are the same for the same secret: once for each key, newest first."""
    marks = {name: _marks(value, vault) for name, value in values.items() if is_sealed(value) or secrets.covers(name)}
    if not marks:
        return [dict(values)]
    return [{**values, **dict(zip(marks, row, strict=True))} for row in zip(*marks.values(), strict=True)]


def words_of(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts that have to be hidden wherever values might be told of, the longest first, as they are and as code quotes them."""
    leaves = {text for value in values.values() for text in _leaves(value) if len(text) >= FEWEST}
    quoted = {form for text in leaves for form in (text, repr(text)[1:-1], _text(text)[1:-1])}
    return tuple(sorted(quoted, key=lambda text: (-len(text), text)))


def _opened(name: str, value: Mapping[str, Any], vault: Vault | None) -> Any:
    if vault is None:
        raise SecretNotOpenable(f"parameters.{name}: is secret, and there is no key to open it with: set {SETTING}")
    try:
        return json.loads(vault.open(value[SEAL]))
    except SecretNotOpenable as error:
        raise SecretNotOpenable(f"parameters.{name}: {error.message}") from None


def _opens_to(value: Mapping[str, Any], text: str, vault: Vault) -> bool:
    try:
        return vault.open(value[SEAL]) == text
    except SecretNotOpenable:
        return False


def _marks(value: Any, vault: Vault) -> list[dict[str, str]]:
    try:
        text = vault.open(value[SEAL]) if is_sealed(value) else _text(value)
    except SecretNotOpenable:
        text = value[SEAL]
    return [{SEAL: mark} for mark in vault.marks(text)]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _leaves(value: Any) -> Iterator[str]:
    match value:
        case Mapping():
            for inner in value.values():
                yield from _leaves(inner)
        case list() | tuple():
            for inner in value:
                yield from _leaves(inner)
        case str():
            yield value
        case bool() | None:
            return
        case _:
            yield str(value)
