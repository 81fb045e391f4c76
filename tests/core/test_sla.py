"""What was expected of a run, and what it did not keep."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from headway.core.sla import Course, Expected, breaches

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SPANS = st.timedeltas(timedelta(), timedelta(hours=3))
EXPECTED = st.builds(Expected, st.none() | SPANS, st.none() | SPANS)
RUN = UUID(int=7)


@given(EXPECTED, st.none() | SPANS, st.none() | SPANS, SPANS)
def test_an_expectation_is_kept_up_to_its_last_instant(
    expected: Expected, start: timedelta | None, took: timedelta | None, late: timedelta
) -> None:
    """RTY-14: what is later, or longer, than expected is a breach, by now where it has not come yet; nothing expected is never one."""
    started = None if start is None else NOON + start
    ended = None if started is None or took is None else started + took
    now = max(NOON + late, ended or started or NOON)
    found = {one.dedupe_key.split(":")[1] for one in breaches(Course(RUN, "job", "", NOON, started, ended), expected, now)}
    waited, ran = (started or now) - NOON, None if started is None else (ended or now) - started
    assert ("must_start_by" in found) == (expected.must_start_by is not None and waited > expected.must_start_by)
    assert ("expected_duration" in found) == (expected.duration is not None and ran is not None and ran > expected.duration)


def test_a_breach_says_what_was_expected() -> None:
    """RTY-14: the message has both figures, and the key is the same before and after the end."""
    expected = Expected(None, timedelta(minutes=5))
    (running,) = breaches(Course(RUN, "job", "acme", None, NOON), expected, NOON + timedelta(minutes=6))
    (ended,) = breaches(Course(RUN, "job", "acme", None, NOON, NOON + timedelta(minutes=7)), expected, NOON + timedelta(hours=1))
    assert running.message == f"job: run {RUN} has been running for 6m, 5m at most were expected"
    assert ended.message == f"job: run {RUN} took 7m, 5m at most were expected"
    assert running.dedupe_key == ended.dedupe_key
