"""Exceptions as values that may be stored and shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.outcome import SafeError
from headway.core.safe import CUT, MESSAGE_LIMIT, STACK_LIMIT, safe_error, safe_text, without_secrets


def caught(error: BaseException) -> SafeError:
    """An error that was really raised, as a value."""
    with pytest.raises(type(error)) as info:
        raise error
    return safe_error(info.value)


def test_an_error_names_its_class_message_and_place() -> None:
    """RUN-14: class, message and stack of an exception are told, causes and notes included."""
    inner = KeyError("customer")
    error = ValueError("no such customer")
    error.__cause__ = inner
    error.add_note("while rendering")
    found = caught(error)
    assert (found.kind, found.message) == ("ValueError", "no such customer")
    assert "KeyError: 'customer'" in found.stack and "while rendering" in found.stack and "in caught" in found.stack
    assert caught(ValueError()).message == "ValueError"
    assert caught(SyntaxError("bad", ("f.py", 1, 1, "x =", 1, 2))).message == "bad"


class Unprintable(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no")


def test_recording_an_error_cannot_fail() -> None:
    """RUN-14: an exception whose text cannot be made, and one of ten megabytes, are told within the limits."""
    assert caught(Unprintable()).kind == "Unprintable"
    huge = caught(ValueError("x" * 10_000_000))
    assert len(huge.message) == MESSAGE_LIMIT and CUT in huge.message
    assert len(huge.stack) <= STACK_LIMIT and "ValueError" in huge.stack
    deep = caught(_nested(300))
    assert len(deep.stack) == STACK_LIMIT


def _nested(levels: int) -> ValueError:
    error = ValueError("innermost")
    for level in range(levels):
        outer = ValueError(f"level {level}")
        outer.__cause__ = error
        error = outer
    return error


@given(st.text(st.characters(codec=None), max_size=200), st.integers(20, 100))
def test_any_text_can_be_stored(text: str, limit: int) -> None:
    """RUN-14: what is left of any text is within its limit, encodable, and without NUL."""
    safe = safe_text(text, limit)
    assert len(safe) <= limit
    assert b"\x00" not in safe.encode()


def test_what_postgresql_refuses_is_replaced() -> None:
    """RUN-14: NUL and halves of characters become the replacement character."""
    assert safe_text("a\x00b\ud800c", 100) == "a\ufffdb\ufffdc"


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("postgresql://me:hunter2@host/db", "postgresql://me:***@host/db"),
        ("amqp://guest:p@ss@host", "amqp://guest:***@host"),
        ("password=hunter2 host=x", "password=*** host=x"),
        ('{"api_key": "abc def", "user": "me"}', '{"api_key": ***, "user": "me"}'),
        ("Authorization: Bearer abcdefghijkl", "Authorization: Bearer ***"),
        ("client_secret: s3cr3t, next", "client_secret: ***, next"),
        ("an ordinary sentence: nothing to hide", "an ordinary sentence: nothing to hide"),
        ("https://host/path?a=b", "https://host/path?a=b"),
    ],
)
def test_secrets_are_masked(text: str, safe: str) -> None:
    """OBS-05: passwords in URLs, values that are secret by name, and bearer tokens never appear."""
    assert without_secrets(text) == safe


def test_masking_takes_linear_time() -> None:
    """A text that nearly matches everywhere is masked in well under a second."""
    for text in ("://a:" * 6000, "a-" * 16_000, "password" * 4000, "bearer " * 5000):
        assert safe_text(text, STACK_LIMIT)
