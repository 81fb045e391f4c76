"""How secret values are kept, shown, compared and opened."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import Invalid
from headway.core.hiding import hidden, hidden_in
from headway.core.outcome import Failure, SafeError, Snooze, Success
from headway.core.safe import MASK
from headway.core.secret import SEAL, SecretNotOpenable, is_sealed, lookalikes, marked, masked, opened, refusals, sealed, words_of
from headway.core.secret_names import NONE, Secrets
from headway.core.template import flat
from tests.core.vaults import Reversing

SECRET = Secrets(frozenset({"word"}))
VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES.filter(lambda value: value != MASK and not is_sealed(value)), VALUES)
def test_what_is_sealed_opens_to_the_same_value(word: Any, other: Any) -> None:
    """TPL-07: any JSON value can be secret; what is not stays as it is, and what is shown of a secret is stars."""
    values = {"Word": word, "other": other}
    kept = sealed(values, SECRET, Reversing(1), path="p")
    assert is_sealed(kept["Word"])
    assert kept["other"] == other
    assert opened(kept, Reversing(2, 1)) == values
    assert masked(kept)["Word"] == MASK
    assert sealed(kept, SECRET, None, path="p") == kept


@given(VALUES.filter(lambda value: value != MASK and not is_sealed(value)))
def test_the_same_value_stays_the_same_token(word: Any) -> None:
    """TPL-07: a save of what stands already changes nothing, whether the secret is given again or comes back masked."""
    vault = Reversing(1)
    kept = sealed({"word": word}, SECRET, vault, path="p")
    assert sealed({"word": word}, SECRET, vault, path="p", kept=kept) == kept
    assert sealed({"WORD": MASK}, SECRET, None, path="p", kept=kept) == {"WORD": kept["word"]}
    assert sealed({"word": MASK}, NONE, None, path="p", kept=kept) == kept
    assert sealed({"word": [word]}, SECRET, vault, path="p", kept=kept) != kept


def test_what_no_key_opens_is_sealed_anew() -> None:
    """TPL-07: a value whose key is gone is healed by giving it again."""
    lost = sealed({"word": "a"}, SECRET, Reversing(1), path="p")
    assert opened(sealed({"word": "a"}, SECRET, Reversing(2), path="p", kept=lost), Reversing(2)) == {"word": "a"}


def test_true_is_not_one() -> None:
    """TPL-07: values are compared as JSON, not as Python."""
    kept = sealed({"word": 1}, SECRET, Reversing(1), path="p")
    assert opened(sealed({"word": True}, SECRET, Reversing(1), path="p", kept=kept), Reversing(1))["word"] is True


def test_everything_that_cannot_be_sealed_is_named_at_once() -> None:
    """TPL-07: without a key, and for stars that stand for nothing, one error names each parameter and the setting."""
    secrets = Secrets(others=True)
    with pytest.raises(Invalid) as refused:
        sealed({"a": 1, "b": MASK}, secrets, None, path="parameters")
    assert [problem.field for problem in refused.value.problems] == ["parameters.a", "parameters.b"]
    assert "HEADWAY_SECRETS__KEYS" in refused.value.problems[0].message
    assert [problem.field for problem in refusals({"a": 1, "b": MASK}, secrets, Reversing(1), path="p")] == ["p.b"]


@pytest.mark.parametrize("value", [{SEAL: "x"}, {SEAL: 1, "more": 2}, {SEAL: None}])
def test_what_looks_like_a_kept_secret_is_refused(value: Any) -> None:
    """TPL-07: nobody passes a token of somebody else for a value."""
    assert [problem.field for problem in lookalikes({"a": value, "b": {"deep": value}}, "p")] == ["p.a"]


def test_what_cannot_be_opened_says_which_parameter() -> None:
    """TPL-07: a lost key, and no key at all, are told apart from a wrong parameter."""
    kept = sealed({"word": "a"}, SECRET, Reversing(1), path="p")
    for vault in (Reversing(2), None):
        with pytest.raises(SecretNotOpenable, match=r"^parameters\.word: "):
            opened(kept, vault)


def test_marks_are_the_same_for_the_same_secret() -> None:
    """TPL-07, RUN-09: sealed or not, by any key that is still known, and the newest key's mark comes first."""
    old, both = Reversing(1), Reversing(2, 1)
    kept = sealed({"word": "a", "n": 1}, SECRET, old, path="p")
    assert marked(kept, SECRET, both) == marked({"word": "a", "n": 1}, SECRET, both)
    assert marked(kept, SECRET, old)[0] == marked(kept, SECRET, both)[1]
    assert marked({"word": "b", "n": 1}, SECRET, old) != marked({"word": "a", "n": 1}, SECRET, old)
    assert marked({"n": 1}, SECRET, both) == [{"n": 1}]


def test_templates_know_nothing_of_secrets() -> None:
    """TPL-07, TPL-03: a sealed value is no fact, so that its token stays as it was written."""
    kept = sealed({"word": "a", "n": 1}, SECRET, Reversing(1), path="p")
    assert dict(flat("LastRun.Parameters", kept)) == {"lastrun.parameters.n": 1}


def test_words_are_hidden_in_whatever_a_handler_says() -> None:
    """TPL-07, RUN-14: in errors, stacks, results, field names, reasons, also as code quotes them; short texts stand in too much."""
    words = words_of({"word": {"deep": ['hun"ter\n2', 123456]}, "pin": "abc"})
    error = SafeError("E", 'bad hun"ter\n2', "repr 'hun\"ter\\n2', json hun\\\"ter\\n2")
    assert hidden_in(Failure(error, result={"n": 123456, 'hun"ter\n2': ["x123456x", 7]}), words) == Failure(
        SafeError("E", "bad ***", "repr '***', json ***"), result={"n": MASK, "***": ["x***x", 7]}
    )
    assert hidden("abc", words) == "abc"
    assert hidden_in(Success({"n": True}, ("123456",)), words) == Success({"n": True}, ("***",))
    assert hidden_in(Snooze(timedelta(1), "123456"), words).reason == "***"
