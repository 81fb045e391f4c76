"""Where settings come from, and what is said about wrong ones."""

import os
from pathlib import Path

import pytest

from headway.core.errors import Invalid
from headway.runtime.settings import (
    ClientSettings,
    SchedulerSettings,
    Settings,
    UpSettings,
    WorkerSettings,
    WorkflowEngineSettings,
    load,
    read_jobs,
    strangers,
)

DATABASE = "postgresql://app:tops3cret@db:5432/headway"
CANARY = "tops3cret"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Two URLs, and nothing else of ours."""
    for name in [name for name in os.environ if name.startswith("HEADWAY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HEADWAY_DATABASE_URL", DATABASE)
    monkeypatch.setenv("HEADWAY_BROKER_URL", "memory://")
    return monkeypatch


def problems(settings: type[Settings] | type[ClientSettings] = SchedulerSettings, **code: object) -> dict[str, str]:
    """What `load` complains about."""
    with pytest.raises(Invalid) as caught:
        load(settings, **code)
    return {problem.field: problem.message for problem in caught.value.problems}


def test_defaults_and_ports() -> None:
    """Two URLs are enough for every service, and no two of them share a health port."""
    assert load(SchedulerSettings).health_port == 9102
    assert load(WorkflowEngineSettings).health_port == 9103
    assert load(WorkerSettings).worker.queues == ("default",)
    assert load(Settings).zone.endswith("UTC")


def test_code_beats_environment_beats_file(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every knob comes from file, environment and code; code wins (CFG-01)."""
    file = tmp_path / "headway.toml"
    file.write_text("lease_seconds = 60\n[scheduler]\nbatch = 1\nrefresh_seconds = 2\ngrace_seconds = 3\n[worker]\nconcurrency = 7\n")
    environment.setenv("HEADWAY_CONFIG", str(file))
    environment.setenv("HEADWAY_SCHEDULER__REFRESH_SECONDS", "20")
    environment.setenv("HEADWAY_SCHEDULER__GRACE_SECONDS", "30")
    settings = load(SchedulerSettings, scheduler={"grace_seconds": 300}, zone=None)
    group = settings.scheduler
    assert (settings.lease_seconds, group.batch, group.refresh_seconds, group.grace_seconds) == (60, 1, 20, 300)
    assert load(WorkerSettings).worker.concurrency == 7


def test_every_bad_value_is_said_at_once(environment: pytest.MonkeyPatch) -> None:
    """One start names all problems by their environment variables (CFG-02)."""
    environment.delenv("HEADWAY_BROKER_URL")
    environment.setenv("HEADWAY_DATABASE_URL", "mysql://app:tops3cret@db/headway")
    environment.setenv("HEADWAY_LOG_LEVEL", "loud")
    environment.setenv("HEADWAY_DATABASE_SCHEMA", "Head way")
    environment.setenv("HEADWAY_HEALTH_PORT", "70000")
    environment.setenv("HEADWAY_ZONE", "Mars/Olympus")
    environment.setenv("HEADWAY_SCHEDULER__BATCH", "many")
    environment.setenv("HEADWAY_SCHEDULER__GRACE_SECONDS", "nan")
    environment.setenv("HEADWAY_SCHEDULER__REFRSH_SECONDS", "3")
    found = problems()
    assert found["HEADWAY_BROKER_URL"] == "is required"
    assert found["HEADWAY_SCHEDULER__REFRSH_SECONDS"] == "there is no such knob"
    assert found["HEADWAY_SCHEDULER__BATCH"] == "must be a whole number"
    assert found["HEADWAY_HEALTH_PORT"] == "must be at most 65535"
    assert set(found) >= {"HEADWAY_DATABASE_URL", "HEADWAY_LOG_LEVEL", "HEADWAY_DATABASE_SCHEMA", "HEADWAY_ZONE"}
    assert "HEADWAY_SCHEDULER__GRACE_SECONDS" in found
    assert CANARY not in str(found)


def test_unknown_names_are_refused_in_code_and_file(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A misspelt name is an error wherever it can only be ours."""
    file = tmp_path / "headway.toml"
    file.write_text("leese_seconds = 60\n[jobs.report]\nenabled = false\n")
    environment.setenv("HEADWAY_CONFIG", str(file))
    assert problems(helth_port=1) == {"HEADWAY_LEESE_SECONDS": "there is no such knob", "HEADWAY_HELTH_PORT": "there is no such knob"}


def test_names_of_others_are_left_alone(environment: pytest.MonkeyPatch) -> None:
    """Other services' groups and the names that Kubernetes adds for a service disturb nothing."""
    environment.setenv("HEADWAY_WORKER__CONCURRENCY", "x")
    environment.setenv("HEADWAY_API_PORT", "tcp://10.0.0.1:8080")
    environment.setenv("HEADWAY_SCHEDULER_SERVICE_HOST", "10.0.0.2")
    environment.setenv("HEADWAY_SCHEDULER", "tcp://10.0.0.2:9102")
    environment.setenv("HEADWAY_LOG_LEVEL__X", "loud")
    environment.setenv("HEADWAY_OTLP_ENDPOINT", "")
    assert load(SchedulerSettings).otlp_endpoint is None


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("HEADWAY_BROKR_URL", "HEADWAY_BROKER_URL"),
        ("HEADWAY_DATABSE_URL_FILE", "HEADWAY_DATABASE_URL_FILE"),
        ("HEADWAY_API_PORT", "HEADWAY_API__PORT"),
        ("HEADWAY_WORKR__CONCURRENCY", "HEADWAY_WORKER__CONCURRENCY"),
        ("headway_lease_second", "HEADWAY_LEASE_SECONDS"),
    ],
)
def test_a_misspelt_variable_is_refused(environment: pytest.MonkeyPatch, name: str, meant: str) -> None:
    """CFG-02: a variable that is almost a knob's is named with the knob, beside all other problems, by every process; empty it is none."""
    environment.setenv(name, "")
    load(ClientSettings)
    environment.setenv(name, CANARY)
    for settings in (SchedulerSettings, ClientSettings):
        assert problems(settings) == {name.upper(): f"there is no such knob: did you mean {meant}?"}
    assert set(problems(lease_seconds=0)) == {name.upper(), "HEADWAY_LEASE_SECONDS"}


def test_a_variable_that_sets_nothing_is_known(environment: pytest.MonkeyPatch) -> None:
    """CFG-02: what is like no knob hinders nothing, and can be told of with the knob that comes closest."""
    environment.setenv("HEADWAY_DB_URL", "x")
    environment.setenv("HEADWAY_DATABASE_URL_RO", "x")
    environment.setenv("HEADWAY_QUUX", "x")
    environment.setenv("HEADWAY_WORKER__NOTHING", "x")
    environment.setenv("HEADWAY_API_KEY_FILE", "x")
    environment.setenv("HEADWAY_API_SERVICE_PORT_HTTP", "8080")
    environment.setenv("HEADWAY_API_PORT_8080_TCP_ADDR", "10.0.0.1")
    load(SchedulerSettings)
    near = "HEADWAY_DATABASE_URL"
    assert dict(strangers()) == {"HEADWAY_DATABASE_URL_RO": near, "HEADWAY_DB_URL": near, "HEADWAY_QUUX": ""}


def test_secrets_come_from_files(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`*_FILE` gives any secret knob, also an optional one; the plain variable wins over it."""
    secret = tmp_path / "secret"
    secret.write_text(DATABASE + "\n")
    environment.delenv("HEADWAY_DATABASE_URL")
    environment.setenv("HEADWAY_DATABASE_URL_FILE", str(secret))
    environment.setenv("HEADWAY_API_KEY_FILE", str(secret))
    assert load(Settings).database_url.reveal() == DATABASE
    up = load(UpSettings).database_url
    assert up is not None
    assert up.reveal() == DATABASE
    key = load(ClientSettings).api_key
    assert key is not None
    assert key.reveal() == DATABASE
    environment.setenv("HEADWAY_DATABASE_URL", "postgresql://other/db")
    assert load(Settings).database_url.reveal() == "postgresql://other/db"


def test_an_unreadable_secret_is_said_beside_other_problems(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file that is missing is one of the problems, not the end of the list."""
    environment.delenv("HEADWAY_DATABASE_URL")
    environment.setenv("HEADWAY_DATABASE_URL_FILE", str(tmp_path / "none"))
    found = problems(lease_seconds=0)
    assert "No such file" in found["HEADWAY_DATABASE_URL"]
    assert found["HEADWAY_LEASE_SECONDS"] == "must be greater than 0"


@pytest.mark.parametrize(
    "url",
    [
        "postgres://app:tops3cret@db/headway",
        "postgresql://app:tops3cret/x@db/headway",
        "postgresql://app:tops3cret#x@db/headway",
        "postgresql://app:1/tops3cret@db/headway",
        "postgresql://app:tops3cret@db:port/headway",
        "postgresql://[tops3cret",
    ],
)
def test_a_bad_url_is_refused_and_never_shown(url: str) -> None:
    """Neither the wrong scheme nor a password with bare characters brings a secret into an error."""
    found = problems(database_url=url)
    assert list(found) == ["HEADWAY_DATABASE_URL"]
    assert CANARY not in str(found)


@pytest.mark.parametrize(
    "url", [DATABASE, "postgresql:///headway?host=/run/pg&password=tops3cret", "postgresql://a:tops3cret@h1:1,h2:2/db"]
)
def test_a_good_url_hides_its_password(url: str) -> None:
    """Settings can be printed, dumped and formatted into any message without showing a password."""
    settings = load(Settings, database_url=url, broker_url="amqps://u:tops3cret@mq/v")
    assert settings.database_url.reveal() == url
    assert CANARY not in f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()} {settings.database_url}"
    assert str(load(Settings).database_url) == "postgresql://app:***@db:5432/headway"


def test_zones_are_iana_or_windows(environment: pytest.MonkeyPatch) -> None:
    """Zone options accept both kinds of id (CFG-04)."""
    environment.setenv("HEADWAY_ZONE", "W. Europe Standard Time")
    assert load(Settings).zone == "Europe/Berlin"


def test_a_heartbeat_fits_its_lease(environment: pytest.MonkeyPatch) -> None:
    """A short lease needs a shorter heartbeat, also when the heartbeat is the default."""
    environment.setenv("HEADWAY_LEASE_SECONDS", "2")
    assert problems() == {"HEADWAY_HEARTBEAT_SECONDS": "must be at most half of HEADWAY_LEASE_SECONDS (2)"}
    assert load(Settings, heartbeat_seconds=0.5).lease_seconds == 2


def test_lists_are_written_with_commas(environment: pytest.MonkeyPatch) -> None:
    """Names are separated by commas in the environment and stay a list in code; none at all is an error."""
    environment.setenv("HEADWAY_WORKER__QUEUES", "reports, mail,")
    assert load(WorkerSettings).worker.queues == ("reports", "mail")
    assert load(WorkerSettings, worker={"queues": ["a"]}).worker.queues == ("a",)
    environment.setenv("HEADWAY_WORKER__QUEUES", ",")
    assert problems(WorkerSettings) == {"HEADWAY_WORKER__QUEUES": "must not be empty"}


@pytest.mark.parametrize("content", ["= 1", "\udcff", None])
def test_a_broken_file_is_said(environment: pytest.MonkeyPatch, tmp_path: Path, content: str | None) -> None:
    """A file that is missing, no text or no TOML is a problem of HEADWAY_CONFIG."""
    file = tmp_path / "headway.toml"
    if content is not None:
        file.write_text(content, errors="surrogateescape")
    environment.setenv("HEADWAY_CONFIG", str(file))
    assert list(problems()) == ["HEADWAY_CONFIG"]


def test_job_sections_are_read_by_name(tmp_path: Path) -> None:
    """Each job may have a section of its own, read at run time (CFG-03)."""
    file = tmp_path / "headway.toml"
    file.write_text('[jobs.hello]\nenabled = false\n[jobs."reports.daily"]\nheartbeat_monitored = false\n')
    jobs = read_jobs(file)
    assert jobs["hello"].enabled is False
    assert jobs["hello"].heartbeat_monitored is None
    assert jobs["reports.daily"].heartbeat_monitored is False
    assert read_jobs(None) == {}


def test_bad_job_sections_are_all_said(tmp_path: Path) -> None:
    """Every wrong key is named with its job, and a name with dots is explained."""
    file = tmp_path / "headway.toml"
    file.write_text("[jobs.hello]\nenabled = 'perhaps'\n[jobs.reports.daily]\nenabled = true\n[jobs.late]\nheartbeat_factor = 0\n")
    with pytest.raises(Invalid) as caught:
        read_jobs(file)
    found = {problem.field: problem.message for problem in caught.value.problems}
    assert found["jobs.hello.enabled"] == "must be true or false"
    assert found["jobs.late.heartbeat_factor"] == "must be greater than 0"
    assert '[jobs."reports.daily"]' in found["jobs.reports.daily"]


@pytest.mark.parametrize("content", ["jobs = 3", "[jobs]\nhello = 3", "["])
def test_job_sections_of_the_wrong_shape(tmp_path: Path, content: str) -> None:
    """What is no table is an error, not a crash of the refresh."""
    file = tmp_path / "headway.toml"
    file.write_text(content)
    with pytest.raises(Invalid):
        read_jobs(file)
