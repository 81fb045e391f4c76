"""Where messages travel: the exchanges by name, without the prefix that a deployment chooses, and what each carries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from headway.messages.bodies import (
    AlertRaised,
    DefinitionChanged,
    Message,
    QueuePaused,
    RunCancel,
    RunCompleted,
    RunCreated,
    SessionDrain,
)

PREFIX: Final = "headway."

RUN_CREATED: Final = "run-created"
RUN_COMPLETE: Final = "run-complete"
DEFINITION_CHANGED: Final = "definition-changed"
CONTROL: Final = "control"
ALERT: Final = "alert"
DELAYED_RETRY: Final = "delayed-retry"
DELAYED_RETURN: Final = "delayed-return"
DEAD: Final = "dead"

SCHEDULER_COMPLETIONS: Final = "scheduler.run-complete"
ENGINE_COMPLETIONS: Final = "workflow-engine.run-complete"
DEAD_QUEUE: Final = "dead"

Kind = Literal["direct", "topic", "fanout"]


@dataclass(frozen=True, slots=True)
class Channel:
    """One exchange: its kind, what travels through it, by which routing keys, and which queues stand behind it."""

    kind: Kind
    summary: str
    carries: tuple[type[Message], ...]
    key: str = ""
    queues: tuple[str, ...] = ()


def run_queue(queue: str) -> str:
    """Return the name of the broker's queue that holds hints for one queue of runs."""
    return f"run.{queue}"


CHANNELS: Final[Mapping[str, Channel]] = {
    RUN_CREATED: Channel(
        "direct",
        "Ids of runs that a worker may claim. Workers compete; a hint that is lost costs a second.",
        (RunCreated,),
        key="{queue}",
        queues=(run_queue("{queue}"),),
    ),
    RUN_COMPLETE: Channel(
        "topic",
        "Runs that settled and what they owe. The key says for whom: scheduler, workflow-engine, both, or none.",
        (RunCompleted,),
        key="{audience}",
        queues=(SCHEDULER_COMPLETIONS, ENGINE_COMPLETIONS),
    ),
    DEFINITION_CHANGED: Channel("fanout", "A definition or one of its children changed; listeners read it again.", (DefinitionChanged,)),
    CONTROL: Channel("topic", "Wishes to whoever holds what they name.", (RunCancel, QueuePaused, SessionDrain), key="{wish}"),
    ALERT: Channel("topic", "Alerts, for others to consume.", (AlertRaised,), key="alert.{kind}"),
    DELAYED_RETRY: Channel("topic", "Messages that come back to their queue after a level's delay.", (), key="{level}.{queue}"),
    DELAYED_RETURN: Channel("topic", "Messages on their way back from a level to their queue.", (), key="{level}.{queue}"),
    DEAD: Channel("fanout", "What could not be handled: original bytes, reason, origin, tries.", (), queues=(DEAD_QUEUE,)),
}
