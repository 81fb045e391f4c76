"""The knobs of each service, as one group each: `HEADWAY_<GROUP>__<KNOB>`, or a table of the TOML file."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from headway.runtime.settings.units import Bytes, Days, Names, Port, Rows, Runs, Seconds, Threads, Unit
from headway.runtime.settings.urls import SecretKeys


class Group(BaseModel):
    """What all groups share: they never change, and a wrong name is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class SecretsGroup(Group):
    """Keeping the values of secret parameters."""

    keys: Annotated[SecretKeys, Unit("base64 keys of 32 bytes, separated by commas")] = Field(
        (), description="Keys of secret parameters: the first one seals, all of them open.  None: secrets are refused."
    )


class ApiGroup(Group):
    """The HTTP interface."""

    host: str = Field("127.0.0.1", description="Address that the API listens on; another than loopback needs `allow_unauthenticated`.")
    port: Port = Field(8080, description="Port that the API listens on.")
    allow_unauthenticated: bool = Field(
        False, description="Whether anybody who can reach the API may use it, from other machines too: for networks that are closed."
    )
    max_body_bytes: Bytes = Field(1_048_576, description="Largest request body that is read.")
    idempotency_wait_seconds: Seconds = Field(2, description="How long a create waits for another one with the same key.")


class SchedulerGroup(Group):
    """Deciding slots."""

    refresh_seconds: Seconds = Field(30, description="How often definitions and schedules are read again.")
    grace_seconds: Seconds = Field(60, description="A slot that is decided later than this is a misfire.")
    catch_up: bool = Field(True, description="Whether missed slots are caught up at all, whatever their schedules say.")
    longest_sleep_seconds: Seconds = Field(10, description="Longest time between two looks at what is due.")
    second_look_seconds: Seconds = Field(0.5, description="How long a schedule's other schedulers leave its slot to the one that owns it.")
    batch: Rows = Field(500, description="Most slots that one transaction decides.")


class ReactionGroup(Group):
    """Working off what settled runs owe: scheduler and workflow-engine."""

    look_seconds: Seconds = Field(1, description="How often owed reactions are looked for that no message named.")
    batch: Rows = Field(200, description="Most reactions that one transaction handles.")


class MaintenanceGroup(Group):
    """The scans, each with a period of its own."""

    due_seconds: Seconds = Field(0.1, description="Longest sleep of the step that queues delayed runs; it wakes for the next due one.")
    rescue_seconds: Seconds = Field(1, description="How often lapsed sessions are looked for and their runs given back.")
    deadline_seconds: Seconds = Field(5, description="How often running runs past their deadline are looked for.")
    gate_seconds: Seconds = Field(5, description="How often held runs get their second chance.")
    breaker_seconds: Seconds = Field(1, description="How often open breakers are looked at whose reset time has passed.")
    sla_seconds: Seconds = Field(1, description="How often runs are looked for that are late or take too long.")
    turn_seconds: Seconds = Field(1, description="How often the next run of each catch-up is let in.")
    batch_seconds: Seconds = Field(2, description="How often batches are looked for whose opener has ended, or that nobody moved on.")
    chain_seconds: Seconds = Field(60, description="How often after-completion schedules that broke off are looked for.")
    session_seconds: Seconds = Field(60, description="How often ended sessions are removed.")
    session_keep_seconds: Seconds = Field(300, description="How long an ended session stays listed.")
    partition_seconds: Seconds = Field(3600, description="How often partitions are made ahead and those whose day has passed are dropped.")
    calendar_seconds: Seconds = Field(3600, description="How often inline calendars that nothing uses are deleted.")
    holiday_seconds: Seconds = Field(86_400, description="How often calendars get the years of holidays that they lack.")
    backlog_seconds: Seconds = Field(15, description="How often the backlog gauges are read.")
    timeout_grace_seconds: Seconds = Field(30, description="How long after its deadline or cancel wish a run is ended by force.")
    batch: Rows = Field(500, description="Most rows that one transaction of a scan moves.")
    slot_keep_days: Days = Field(400, description="Days that decisions on slots are kept, by whole months; 0: for ever.")
    retention_days: Days = Field(30, description="Days that finished runs are kept if their definition says nothing; 0: for ever.")


class WorkerGroup(Group):
    """Running handlers."""

    concurrency: Runs = Field(100, description="Slots: attempts that one worker holds at once.")
    queues: Names = Field(
        ("default",), min_length=1, description="Queues that the worker takes runs from; `reports=5` gives one a cap of slots."
    )
    threads: Threads = Field(32, description="Threads for handlers that are no coroutines.")
    look_seconds: Seconds = Field(1, description="How often an idle worker looks for queued runs that no message named.")
    batch: Runs = Field(500, description="Most runs that one statement claims or settles.")
    cancel_grace_seconds: Seconds = Field(30, description="How long a cancelled handler may take to end.")
    shell_output_bytes: Bytes = Field(65_536, description="How much of a command's output the `shell` handler keeps.")
