"""The settings of each kind of process, as one frozen class each."""

from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, ValidationInfo, field_validator

from headway.runtime.settings.groups import ApiGroup, MaintenanceGroup, ReactionGroup, SchedulerGroup, SecretsGroup, WorkerGroup
from headway.runtime.settings.sources import Origin, read_toml
from headway.runtime.settings.units import Fraction, Port, Seconds, Zone
from headway.runtime.settings.urls import BrokerUrl, DatabaseUrl, HttpUrl, SecretText, Url

BEATS_IN_A_LEASE: Final = 2
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]


class Configured(Origin):
    """What may stand in a file."""

    config: Path | None = Field(None, description="TOML file with knobs, a table for each group, and `[jobs.<name>]` tables.")

    @field_validator("config")
    @classmethod
    def _readable(cls, file: Path | None) -> Path | None:
        if file is not None:
            read_toml(file)
        return file


class Connections(Configured):
    """Where the database and the broker are: all that a program needs that enqueues."""

    database_url: DatabaseUrl = Field(description="PostgreSQL, the only source of truth: postgresql://user:password@host:port/database.")
    broker_url: BrokerUrl = Field(description="RabbitMQ, amqp:// or amqps://; memory:// is a broker inside one process, for tests.")
    database_schema: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]{0,62}$")] = Field(
        "headway", description="Schema of the platform's tables."
    )
    broker_prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{0,64}$")] = Field(
        "headway.", description="What the names of all exchanges and queues begin with."
    )
    secrets: SecretsGroup = SecretsGroup()
    strict_schedules: bool = Field(
        False, description="Whether schedules declared in code are refused when neither they nor their job name an owner."
    )


class ProcessSettings(Configured):
    """What every process has, whatever its service."""

    log_level: LogLevel = Field("info", description="Least severe events that are logged.")
    log_format: Literal["auto", "json", "console"] = Field(
        "auto", description="Form of a log line; auto: console on a terminal, else json."
    )
    health_host: str = Field("127.0.0.1", description="Address of /healthz, /readyz and /metrics.")
    health_port: Port = Field(0, description="Port of /healthz, /readyz and /metrics; 0 serves none.")
    drain_seconds: Seconds = Field(30, description="How long work that is under way may take to end when the process is asked to stop.")
    otlp_endpoint: HttpUrl | None = Field(None, description="OpenTelemetry collector that gets traces, as http://host:4318; unset: none.")
    trace_sample: Fraction = Field(1.0, description="Share of new traces that are recorded; a caller's decision is followed.")

    @field_validator("log_level", "log_format", mode="before")
    @classmethod
    def _any_case(cls, value: Any) -> Any:
        return value.lower() if isinstance(value, str) else value


class Settings(ProcessSettings, Connections):
    """What every service has."""

    zone: Zone = Field("UTC", description="Zone of schedules that name none.")
    lease_seconds: Seconds = Field(30, description="How long a session that is not renewed keeps what it holds.")
    heartbeat_seconds: Seconds = Field(10, validate_default=True, description="How often a session is renewed; at most half of the lease.")
    publish_all_completions: bool = Field(False, description="Whether completions that owe nothing are published, too, for others to hear.")

    @field_validator("heartbeat_seconds")
    @classmethod
    def _fits_the_lease(cls, heartbeat: float, info: ValidationInfo) -> float:
        lease = info.data.get("lease_seconds")
        if lease is not None and heartbeat * BEATS_IN_A_LEASE > lease:
            raise ValueError(f"must be at most half of HEADWAY_LEASE_SECONDS ({lease:g})")
        return heartbeat


class ApiSettings(Settings):
    """`headway api`"""

    health_port: Port = Field(9101, description="Port of /healthz, /readyz and /metrics; 0 serves none.")
    api: ApiGroup = ApiGroup()


class SchedulerSettings(Settings):
    """`headway scheduler`"""

    health_port: Port = Field(9102, description="Port of /healthz, /readyz and /metrics; 0 serves none.")
    scheduler: SchedulerGroup = SchedulerGroup()
    reactions: ReactionGroup = ReactionGroup()


class WorkflowEngineSettings(Settings):
    """`headway workflow-engine`"""

    health_port: Port = Field(9103, description="Port of /healthz, /readyz and /metrics; 0 serves none.")
    reactions: ReactionGroup = ReactionGroup()


class MaintenanceSettings(Settings):
    """`headway maintenance`"""

    health_port: Port = Field(9104, description="Port of /healthz, /readyz and /metrics; 0 serves none.")
    maintenance: MaintenanceGroup = MaintenanceGroup()


class WorkerSettings(Settings):
    """`headway worker`"""

    health_port: Port = Field(9105, description="Port of /healthz, /readyz and /metrics; 0 serves none.")
    worker: WorkerGroup = WorkerGroup()


class UpSettings(ProcessSettings):
    """`headway up`"""

    home: Path = Field(Path(".headway"), description="Folder of the embedded database; for root, if it is not set, /var/lib/headway.")
    log_level: LogLevel = Field("warning", description="Least severe events that are logged beside what is said to people.")
    database_url: DatabaseUrl | None = Field(None, description="PostgreSQL to be used in the place of the embedded one.")
    broker_url: BrokerUrl = Field(Url.parse("memory://", ("memory",)), description="RabbitMQ to be used in the place of the memory broker.")
    secrets: SecretsGroup = SecretsGroup()
    drain_seconds: Seconds = Field(3, description="How long work that is under way may take to end when the process is asked to stop.")


class ClientSettings(Configured):
    """The command line's other verbs, which call the API"""

    api_url: HttpUrl = Field(Url.parse("http://127.0.0.1:8080", ("http",)), description="Address of the API.")
    api_key: SecretText | None = Field(None, description="Key that the API asks for.")
