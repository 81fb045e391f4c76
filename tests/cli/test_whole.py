"""What `headway up` decides before it starts anything, and what it says."""

import socket
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from headway.cli import sample, welcome
from headway.cli.ground import secrets_of
from headway.cli.installed import SERVICES, service
from headway.cli.whole import IN_MEMORY, Parts, plan, require_free
from headway.core.errors import Invalid
from headway.core.run import State
from headway.runtime.settings import SecretsGroup, UpSettings, Url, load
from headway.runtime.settings.groups import ApiGroup
from headway.runtime.vault import new_key

SAMPLE = Parts("headway.cli.sample:app", sample.app, {name: service(name) for name in SERVICES})
RABBIT = Url.parse("amqp://guest:secret@localhost/", ("amqp",))


@pytest.fixture
def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def test_all_services_share_one_memory_broker(free_port: int) -> None:
    """A memory broker is one for the whole process, so that hints arrive; it is what stands in for RabbitMQ (CFG-06)."""
    made = plan(load(UpSettings), SAMPLE, free_port)
    assert {settings.broker_url for settings in made.services.values()} == {IN_MEMORY}
    assert made.api.api.port == free_port


def test_a_named_broker_is_used_as_it_is(free_port: int) -> None:
    """RabbitMQ takes the place of the memory broker by one setting."""
    made = plan(load(UpSettings, broker_url=RABBIT), SAMPLE, free_port)
    assert {settings.broker_url for settings in made.services.values()} == {RABBIT}


def test_every_service_drains_in_time(free_port: int) -> None:
    """What drains has the embedded platform's own, short time: ctrl-C ends all within 5 s."""
    made = plan(load(UpSettings), SAMPLE, free_port)
    assert {settings.drain_seconds for settings in made.services.values()} == {3}


def test_secrets_have_a_key_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TPL-07: without configured keys `up` makes one, in its folder and for the account alone, and finds it again; configured ones win."""
    settings = load(UpSettings, home=tmp_path / "deep" / "home")
    made = secrets_of(settings)
    file = tmp_path / "deep" / "home" / "secret-key"
    assert (stat.S_IMODE(file.stat().st_mode), [key.reveal() for key in made.keys]) == (0o600, [file.read_text()])
    assert secrets_of(settings) == made
    assert [one.name for one in file.parent.iterdir()] == ["secret-key"]
    monkeypatch.setenv("HEADWAY_SECRETS__KEYS", key := new_key())
    assert [one.reveal() for one in secrets_of(load(UpSettings, home=tmp_path)).keys] == [key]


def test_every_service_gets_the_keys(free_port: int) -> None:
    """TPL-07: whoever saves, fires and executes seals and opens with the same keys."""
    keys = SecretsGroup.model_validate({"keys": new_key()})
    made = plan(load(UpSettings), SAMPLE, free_port).at(Url.parse("postgresql://localhost/x", ("postgresql",)), keys)
    assert {settings.secrets for settings in made.services.values()} == {keys}


def test_a_taken_port_is_one_clear_error() -> None:
    """A port in use names the option that helps, before anything is started."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(Invalid, match=rf"^--port: cannot listen on 127\.0\.0\.1:{port}: Address already in use; name another port"):
            require_free("127.0.0.1", port)


def test_the_greeting_names_the_next_command() -> None:
    """`up` prints the link and what to try, with the address only where it is not the usual one."""
    said = welcome.greeting(ApiGroup(), ".headway (embedded)", IN_MEMORY, "x:app", ["hello"])
    assert said.splitlines()[0] == "Headway is up: http://127.0.0.1:8080"
    assert said.splitlines()[-1] == "  headway run hello --wait"
    other = welcome.greeting(ApiGroup(port=8081), ".headway", IN_MEMORY, "x:app", [])
    assert other.splitlines()[-1] == "  headway run DEFINITION --wait --api http://127.0.0.1:8081"


def test_a_volatile_broker_is_flagged() -> None:
    """A memory broker is named as such, with what to set where the database is one that others share (CFG-06)."""
    assert welcome.broker_line(IN_MEMORY, ".headway (embedded)") == welcome.VOLATILE
    assert "HEADWAY_BROKER_URL" in welcome.broker_line(IN_MEMORY, "postgresql://localhost/headway")
    assert welcome.broker_line(RABBIT, "postgresql://localhost/headway") == "amqp://guest:***@localhost/"


def test_the_first_run_is_one_line() -> None:
    """The line says what ran, how it ended, how long it took and what it returned."""
    then = datetime(2026, 1, 31, tzinfo=UTC)
    run = {"id": 1, "definition": "hello", "state": State.SUCCEEDED, "result": '{"value":"Hello"}', "started_at": then}
    line = welcome.ended_line({**run, "finished_at": then + timedelta(milliseconds=12)})
    assert line == "first run: hello succeeded in 12 ms: Hello  (headway runs show 1)"
    assert welcome.ended_line({**run, "started_at": None, "result": None, "state": State.SKIPPED}).startswith("first run: hello skipped  (")
