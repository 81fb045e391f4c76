"""What a handler gets of a claimed run whose parameters hold secrets."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from headway.store.claim import Claimed
from headway.worker.opening import opening
from tests.core.vaults import Reversing

AT = datetime(2030, 1, 1, tzinfo=UTC)


def claimed(params: str | None) -> Claimed:
    """A run with these parameters."""
    given = {"id": UUID(int=1), "params": params, "available_at": AT, "started_at": AT, "deadline_at": AT}
    return Claimed._make(given.get(name) for name in Claimed._fields)


@pytest.mark.parametrize(
    "params", [None, "{}", '{"a":1}', '[{"$secret":"x"}]', '{"a":{"$secret":1}}', '{"a":{"deep":{"$secret":"x"}}}', '"\\"$secret\\""']
)
def test_what_holds_no_secret_is_given_as_it_is(params: str | None) -> None:
    """TPL-07: nothing is opened but what was sealed; whatever is stored, it never stops a worker."""
    run = claimed(params)
    assert opening(run, None) == (run, (), None)


def test_what_is_sealed_is_opened_and_hidden() -> None:
    """TPL-07: the handler's copy is opened, the claim itself is not; the words to hide are the secret's alone."""
    vault = Reversing(1)
    run = claimed(f'{{"word":{{"$secret":"{vault.seal("12345")}"}},"customer":"acme inc"}}')
    given = opening(run, vault)
    assert (given.claimed.params, given.words, given.refusal) == ('{"word":12345,"customer":"acme inc"}', ("12345",), None)
    assert "12345" not in str(run)


def test_what_cannot_be_opened_is_refused_for_good() -> None:
    """TPL-07: the error is safe and names the parameter; the handler is not called, and no retry would help."""
    given = opening(claimed('{"word":{"$secret":"2-1-x"}}'), Reversing(1))
    assert given.refusal is not None
    assert (given.refusal.permanent, given.refusal.error.kind) == (True, "secret_not_openable")
    assert given.refusal.error.message == "parameters.word: no key opens it"
