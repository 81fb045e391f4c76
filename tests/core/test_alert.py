"""Which failed attempts somebody is told of."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from headway.core.alert import AlertKind, FailedAttempt, Failing, alerts_for
from headway.core.outcome import SafeError

RUN = UUID(int=7)


@given(alert_after=st.integers(0, 5), row=st.lists(st.integers(1, 8), max_size=6), crashed=st.booleans())
def test_each_failure_from_the_threshold_on_is_one_alert(alert_after: int, row: list[int], crashed: bool) -> None:
    """RTY-12: `alert_after` in a row, and each later one; 0 is off; one key for each event."""
    failed = [FailedAttempt(number, "failure", None, nth) for number, nth in enumerate(row, 1)]
    alerts = alerts_for(Failing(RUN, "job", "acme", alert_after, "crash limit" if crashed else ""), failed)
    told = [one for one in alerts if one.kind is AlertKind.FAILURE]
    assert len(told) == (sum(nth >= alert_after for nth in row) if alert_after else 0)
    assert [one.kind for one in alerts if one not in told] == ([AlertKind.DEAD_JOB] if crashed and alert_after else [])
    assert len({one.dedupe_key for one in alerts}) == len(alerts)


def test_an_alert_says_what_happened() -> None:
    """RTY-12: definition, run, attempt, how often in a row, and the error."""
    (alert,) = alerts_for(Failing(RUN, "job", "acme", 2), [FailedAttempt(3, "timeout", SafeError("Timeout", "too slow"), 2)])
    assert alert.message == f"job: attempt 3 of run {RUN} ended as timeout, 2 in a row: Timeout: too slow"
    assert (alert.subject, alert.tenant, alert.definition, alert.run) == (f"run:{RUN}", "acme", "job", RUN)
