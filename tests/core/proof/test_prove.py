"""The proof that each slot has one decision, over random histories and over ledgers with one fault."""

from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any

import pytest
from hypothesis import given

from headway.core.proof.ledger import MOST_FINDINGS, After, Era, Finding, Kind, Proof, Single, Span
from headway.core.proof.prove import prove
from headway.core.schedule.chain import first_slot
from headway.core.schedule.rule import AfterCompletion, parse_rule
from tests.core.examples import examples
from tests.core.proof.histories import CHAIN_RULES, CLOCK_RULES, START, History, histories, mutations

MINUTE, TICK = timedelta(minutes=1), timedelta(microseconds=1)
END = START + timedelta(days=400)


def proof(history: History, singles: list[Single] | None = None, spans: list[Span] | None = None) -> Proof:
    """The proof of a history's whole time, or of rows in the place of its own."""
    return prove(history.eras(), history.singles if singles is None else singles, history.spans if spans is None else spans, START, END)


def of(rule: dict[str, Any], minutes: int, singles: list[Single], spans: list[Span] | None = None) -> Proof:
    """The proof of one version that was in force for so many minutes."""
    return prove([Era(1, START, START + minutes * MINUTE, parse_rule(rule))], singles, spans or [], START, END)


def shown(findings: Any) -> list[tuple[Kind, int]]:
    """Findings by kind and minute."""
    return [(one.kind, int((one.at - START) / MINUTE)) for one in findings]


def at(*minutes: int) -> list[Single]:
    """Decided slots by minute."""
    return [Single(START + minute * MINUTE) for minute in minutes]


@examples(150)
@given(histories(CLOCK_RULES, -30))
def test_what_schedulers_decide_is_proven(history: History) -> None:
    """OBS-06, DEF-14: whatever clocks, edits and pauses do, every expected slot has one decision, and the proof counts them all."""
    found = proof(history)
    assert (found.findings, found.broken, found.differences, found.remarks) == ([], 0, [], [])
    assert found.holds
    assert found.expected == found.singles + found.spanned
    assert (found.after, found.until) == (START, history.decided_until)


@examples(40)
@given(histories(CLOCK_RULES, -30))
def test_one_fault_is_found_and_named(history: History) -> None:
    """OBS-06: a ledger with one row deleted, doubled, moved or miscounted is no proof, and the finding names its instant."""
    expected = {
        "deleted": Kind.MISSING,
        "doubled": Kind.DOUBLED,
        "shifted": Kind.MISSING,
        "range doubled": Kind.OVERLAPPING,
        "range miscounted": Kind.WRONG_COUNT,
    }
    for done, instant, singles, spans in mutations(history):
        found = proof(history, singles, spans)
        assert not found.holds
        if done in expected:
            assert (expected[done], instant) in [(one.kind, one.at) for one in found.findings]
        else:
            assert all(one.kind is Kind.MISSING for one in found.findings)


@examples(200)
@given(histories(CHAIN_RULES, 1))
def test_chains_are_proven(history: History) -> None:
    """OBS-06: each slot of an after-completion schedule follows the end of the run before it, through pauses, misfires and edits."""
    found = proof(history)
    assert (found.findings, found.remarks) == ([], [])
    assert found.expected == found.singles + found.spanned


@examples(60)
@given(histories(CHAIN_RULES, 1))
def test_one_fault_in_a_chain_is_found(history: History) -> None:
    """OBS-06: a chain with one decision missing, doubled, moved or miscounted is no proof."""
    for done, instant, singles, spans in mutations(history):
        found = proof(history, singles, spans)
        assert not found.holds, (done, instant)
        assert min(abs(one.at - instant) for one in found.findings) <= timedelta(days=1)


def test_every_kind_of_fault_is_told() -> None:
    """OBS-06: findings say what is wrong and where; neighbours that are missing are told together."""
    spans = [Span(START, START + 3 * MINUTE, 3), Span(START + 5 * MINUTE, START + 8 * MINUTE, 9)]
    found = of({"every": "1m"}, 15, [*at(2, 4, 4, 9), Single(START + 4.5 * MINUTE)], spans)
    assert shown(found.findings) == [
        (Kind.DOUBLED, 2),
        (Kind.DOUBLED, 4),
        (Kind.UNEXPECTED, 4),
        (Kind.MISSING, 5),
        (Kind.WRONG_COUNT, 5),
        (Kind.MISSING, 10),
    ]
    assert found.findings[-1].words == "and the slots up to 2026-03-28T22:15:00+00:00, 6 of them, have no decision"
    assert found.findings[4].words == "the range from here to 2026-03-28T22:08:00+00:00 says 9 slots, and holds 3"
    assert (found.expected, found.singles, found.spans, found.spanned, found.broken) == (15, 5, 2, 12, 6)


def test_what_is_not_decided_yet_is_not_missing() -> None:
    """OBS-06: the proof goes as far as the schedule is decided, and a period may lie anywhere in it."""
    rule = {"every": "1m"}
    assert of(rule, 3, at(1, 2, 3)).until == START + 3 * MINUTE
    eras = [Era(1, START, START + 9 * MINUTE, parse_rule(rule))]
    part = prove(eras, at(*range(1, 10)), [], START + 2 * MINUTE, START + 4 * MINUTE)
    assert (part.holds, part.expected, part.singles) == (True, 2, 2)
    assert prove(eras, [], [], END, END + MINUTE).expected == 0


def test_a_schedule_expects_nothing_before_it_was_made_and_after_its_end() -> None:
    """DEF-22: decisions of such times are unexpected; of an unrecorded past the proof says that it leaves it out."""
    rule = parse_rule({"every": "1m"})
    eras = [Era(1, START, START + 2 * MINUTE, rule), Era(2, START + 2 * MINUTE, END, None)]
    found = prove(eras, at(-1, 1, 2, 3), [], START - 5 * MINUTE, END)
    assert shown(found.findings) == [(Kind.UNEXPECTED, -1), (Kind.UNEXPECTED, 3)]
    later = prove([Era(3, START, START + MINUTE, rule)], at(-1, 1), [], START - 5 * MINUTE, END)
    assert (later.holds, later.after, len(later.remarks)) == (True, START, 1)
    assert len(prove([], at(1), [], START, END).remarks) == 1


def test_a_version_that_cannot_be_read_proves_nothing() -> None:
    """OBS-06: the proof does not hold, and says for which version it is that nobody knows what was expected."""
    eras = [
        Era(1, START, START + MINUTE, None, "there is no plug-in 'tides'"),
        Era(2, START + MINUTE, START + 2 * MINUTE, parse_rule({"every": "1m"})),
    ]
    found = prove(eras, at(1, 2), [Span(START - MINUTE, START, 7)], START, END)
    assert shown(found.findings) == [(Kind.UNREADABLE, 0)]
    assert "version 1" in found.findings[0].words


def test_other_zone_data_is_told_apart() -> None:
    """CAL-14: a slot that older zone data placed elsewhere on the same day breaks nothing, one that is plainly missing does."""
    moved = Single(START + 5 * MINUTE, tzdata="2020a")
    found = of({"every": "10m"}, 15, [moved])
    assert (found.holds, shown(found.differences)) == (True, [(Kind.UNEXPECTED, 5), (Kind.MISSING, 10)])
    assert "tzdata 2020a" in found.remarks[0]
    assert not of({"every": "10m"}, 15, [Single(START + 5 * MINUTE)]).holds
    counted = of({"every": "10m"}, 15, [], [Span(START, START + 15 * MINUTE, 7, "2020a")])
    assert (counted.holds, shown(counted.differences)) == (True, [(Kind.WRONG_COUNT, 0)])


def test_a_chain_whose_runs_are_forgotten() -> None:
    """OBS-06: where the run that a slot follows is no longer kept the proof takes it as it stands, and says so."""
    rule = parse_rule({"after_completion": "5m"})
    assert isinstance(rule, AfterCompletion)
    first = first_slot(rule, START)
    assert first is not None
    links = [Single(first, decided_at=START, leads=After.FINISH, kept=False), Single(START + 9 * MINUTE, decided_at=START + 9 * MINUTE)]
    found = of({"after_completion": "5m"}, 12, links)
    assert (found.holds, len(found.remarks)) == (True, 1)
    known = [links[0]._replace(kept=True, finished_at=START + 3 * MINUTE), links[1]]
    assert shown(of({"after_completion": "5m"}, 12, known).findings) == [(Kind.OUT_OF_CHAIN, 9)]
    running = [links[0]._replace(kept=True), links[1]]
    assert "has not ended" in of({"after_completion": "5m"}, 12, running).findings[0].words


def test_findings_are_shown_up_to_a_limit() -> None:
    """OBS-06: a ledger that is wrong throughout is counted in full and shown in part."""
    found = of({"every": "1m"}, 500, [Single(START + (minute + 0.5) * MINUTE) for minute in range(400)])
    assert (len(found.findings), found.broken) == (MOST_FINDINGS, 800)
    assert found.findings == sorted(found.findings, key=lambda one: one.at)
    assert isinstance(found.findings[0], Finding)


@pytest.mark.parametrize("decided", [True, False])
def test_a_year_of_every_minute_is_proven_in_seconds(decided: bool) -> None:
    """OBS-06: half a million slots take seconds to prove, one by one; that all of them are missing takes no time."""
    begin = datetime(2025, 1, 1, tzinfo=UTC)
    end = begin + timedelta(days=365)
    eras = [Era(1, begin, end, parse_rule({"cron": "* * * * *", "zone": "Europe/Berlin"}))]
    singles = [Single(begin + (minute + 1) * MINUTE) for minute in range(525_600)] if decided else []
    started = process_time()
    found = prove(eras, singles, [], begin, end)
    assert (found.holds, found.expected) == (decided, 525_600)
    assert process_time() - started < (20 if decided else 0.5)
