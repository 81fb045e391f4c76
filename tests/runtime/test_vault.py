"""The keys of secret parameters, and what is made with them."""

from pathlib import Path

import pytest

from headway.core.errors import Invalid
from headway.core.secret import SecretNotOpenable
from headway.runtime.settings import Connections, Secret, SecretsGroup, load
from headway.runtime.vault import Keyring, new_key, vault_of

OLD, NEW = new_key(), new_key()
URLS = {"database_url": "postgresql://localhost/x", "broker_url": "memory://"}


def keyring(*keys: str) -> Keyring:
    """The vault of some keys."""
    return Keyring([Secret(key) for key in keys])


def test_a_new_key_in_front_seals_and_old_ones_still_open() -> None:
    """TPL-07: rotating is to prepend a key; a token of a key that is gone, or no token at all, is told of."""
    token = keyring(OLD).seal("hush")
    both = keyring(NEW, OLD)
    assert both.open(token) == "hush"
    assert keyring(NEW).open(both.seal("hush")) == "hush"
    for text in (token, token[:-4], "no token", "ünsaid"):
        with pytest.raises(SecretNotOpenable, match="none of the keys of HEADWAY_SECRETS__KEYS opens it"):
            keyring(NEW).open(text)


def test_a_token_is_never_the_same_twice_and_a_mark_always_is() -> None:
    """TPL-07: tokens tell not even that two secrets are the same; marks do, to whoever has the key, one for each key."""
    both = keyring(NEW, OLD)
    assert both.seal("hush") != both.seal("hush")
    assert both.marks("hush") == [*keyring(NEW).marks("hush"), *keyring(OLD).marks("hush")]
    assert len({*both.marks("hush"), *both.marks("husk")}) == 4


def test_keys_are_read_in_either_alphabet_from_text_or_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """TPL-07: the newest first, separated by commas or on lines of their own; the file of the setting is read like any secret's."""
    file = tmp_path / "keys"
    file.write_text(f"{NEW}\n{OLD.replace('-', '+').replace('_', '/')}\n")
    monkeypatch.setenv("HEADWAY_SECRETS__KEYS_FILE", str(file))
    vault = vault_of(load(Connections, **URLS).secrets)
    assert vault is not None and vault.marks("a") == keyring(NEW, OLD).marks("a")
    monkeypatch.setenv("HEADWAY_SECRETS__KEYS", f"{OLD}, {NEW}")
    found = load(Connections, **URLS).secrets
    assert [key.reveal() for key in found.keys] == [OLD, NEW]
    assert OLD not in f"{found}{found!r}{found.model_dump()}{found.model_dump_json()}"
    assert vault_of(SecretsGroup()) is None


@pytest.mark.parametrize("bad", ["short", f"{'A' * 43}=,{'B' * 44}", "Ü" * 44, "C" * 88])
def test_a_bad_key_is_named_and_never_shown(monkeypatch: pytest.MonkeyPatch, bad: str) -> None:
    """TPL-07, CFG-02: what is no key of 32 bytes is refused at the start, by the setting's name."""
    monkeypatch.setenv("HEADWAY_SECRETS__KEYS", bad)
    with pytest.raises(Invalid) as refused:
        load(Connections, **URLS)
    assert str(refused.value).startswith(
        "HEADWAY_SECRETS__KEYS: must be keys of 32 bytes in base64, as `openssl rand -base64 32` makes them"
    )
    assert bad not in str(refused.value)
