"""From facts to letters."""

from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from headway.broker.hints import Queued, completed, created, letter
from headway.messages import AlertRaised, CompletedRun, QueuePaused, RunCompleted, RunCreated, SessionDrain, parse
from tests.broker.letters import AT

runs = st.builds(Queued, st.uuids(), st.sampled_from(["a", "b"]), st.integers(0, 9))


@given(st.lists(runs, max_size=350))
def test_every_queued_run_is_named_once(queued: list[Queued]) -> None:
    """MSG-01: hints name each run once, in the order given, at most 100 of one queue and priority in a letter."""
    letters = created(queued, at=AT)
    named: list[Queued] = []
    for sent in letters:
        message = parse(sent.body)
        assert isinstance(message, RunCreated)
        assert message.queue == sent.routing_key
        assert sent.mandatory
        named += [Queued(run, message.queue, sent.priority) for run in message.runs]
    assert named == sorted(queued, key=lambda run: (-run.priority, run.queue))


def test_few_letters_carry_many_runs() -> None:
    """performance.md, 3: a batch of one queue and priority takes as few letters as its size allows."""
    assert len(created([Queued(uuid4(), "q", 0) for _ in range(250)], at=AT)) == 3


def completion(*reactions: str) -> CompletedRun:
    """A run that owes these reactions."""
    return CompletedRun(id=uuid4(), definition="d", state="succeeded", outcome="success", attempt=1, finished_at=AT, reactions=reactions)


def test_completions_are_addressed_by_what_they_owe() -> None:
    """MSG-10: the key says who has reactions to do; who owes nothing is left out unless all shall be published."""
    settled = [completion("trigger"), completion("workflow"), completion("workflow", "batch"), completion(), completion("alert")]
    by_key = {sent.routing_key: parse(sent.body) for sent in completed(settled, at=AT)}
    assert by_key == {
        "scheduler": RunCompleted(runs=(settled[0], settled[4])),
        "workflow-engine": RunCompleted(runs=(settled[1],)),
        "both": RunCompleted(runs=(settled[2],)),
    }
    assert "none" in {sent.routing_key for sent in completed(settled, at=AT, publish_all=True)}


def test_public_events_carry_cloudevents_and_trace_context() -> None:
    """MSG-04, OBS-03: a completion has CloudEvents headers and its trace context; a repetition has the same event id."""
    run = completion("trigger")
    one, two = (completed([run], at=AT, headers={"traceparent": "t"})[0] for _ in range(2))
    assert one == two
    assert one.headers["traceparent"] == "t"
    assert one.headers["cloudEvents:type"] == "headway.run.completed.v1"


def test_wishes_and_alerts_have_their_own_keys() -> None:
    """MSG-03: control messages are keyed by the wish, alerts by their kind."""
    drain = letter(SessionDrain(sessions=(UUID(int=1),)), at=AT)
    pause = letter(QueuePaused(queues=("q",)), at=AT)
    alert = letter(AlertRaised(kind="sla", subject="s", at=AT, message="m", dedupe_key="k"), at=AT)
    assert [(sent.exchange, sent.routing_key) for sent in (drain, pause, alert)] == [
        ("control", "session.drain"),
        ("control", "queue.paused"),
        ("alert", "alert.sla"),
    ]
