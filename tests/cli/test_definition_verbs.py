"""`headway definitions diff` and `announce`."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from secrets import token_hex
from typing import get_args

import pytest

from headway.broker import connect
from headway.broker.port import Broker
from headway.broker.topology import Topology
from headway.cli.verbs.definition_edits import Change
from headway.core.definition import DefinitionDraft
from headway.messages import DefinitionChanged, bodies, parse
from headway.messages.channels import DEFINITION_CHANGED
from headway.store import catalogue
from tests.broker.conftest import delete
from tests.cli.command import headway
from tests.cli.served import Served

FILE = """
definitions:
  - name: report
    handler: report
    timeout: 45m
    schedules:
      - {name: nightly, cron: "0 3 * * *", zone: Europe/Berlin}
"""


async def test_a_diff_says_what_an_apply_would_do(platform: Served, tmp_path: Path) -> None:
    """DEF-17, CLI: exit code 1 and a line for each field while the file differs, exit code 0 when it is applied; nothing is written."""
    file = tmp_path / "jobs.yaml"
    file.write_text(FILE)
    new = await platform.headway("definitions", "diff", str(file))
    assert (new.exit_code, new.stdout.splitlines()[1].split()) == (1, ["created", "report"])
    assert (await platform.headway("definitions", "list")).stdout == "no definitions\n"
    await platform.headway("definitions", "apply", str(file))
    same = await platform.headway("definitions", "diff", str(file))
    assert (same.exit_code, same.stdout.splitlines()[1].split()) == (0, ["unchanged", "report"])
    file.write_text(FILE.replace("45m", "50m").replace("0 3 *", "0 4 *"))
    edited = await platform.headway("definitions", "diff", str(file))
    assert edited.exit_code == 1
    assert [line.split() for line in edited.stdout.splitlines()[1:]] == [
        ["changed", "report", "timeout", "45m", "50m"],
        ["changed", "report", "schedules.nightly.cron", *["0", "3", "*", "*", "*"], *["0", "4", "*", "*", "*"]],
    ]
    [one] = await platform.said("definitions", "diff", str(file))
    assert (one["change"], [field["path"] for field in one["fields"]]) == ("changed", ["timeout", "schedules.nightly.cron"])


async def test_a_diff_names_what_an_operator_set(platform: Served, tmp_path: Path) -> None:
    """DEF-17: what was set over code is told of, whether the file differs there or not."""
    file = tmp_path / "jobs.yaml"
    file.write_text(FILE)
    draft = DefinitionDraft("report", "report", timeout=timedelta(minutes=10))
    await platform.database.transact(lambda tx: catalogue.save(tx, draft, actor="sync", source="code"))
    await platform.headway("definitions", "apply", str(file))
    found = await platform.headway("definitions", "diff", str(file))
    assert "report: set here over what code declares: " in found.stdout and "timeout" in found.stdout


async def test_a_file_that_cannot_be_applied_is_refused(platform: Served, tmp_path: Path) -> None:
    """CLI: exit code 2 with every problem of the file."""
    file = tmp_path / "jobs.yaml"
    file.write_text("definitions: [{name: a, handler: a, priority: 12, queue: ''}]")
    refused = await platform.headway("definitions", "diff", str(file))
    assert refused.exit_code == 2
    assert "definitions[0].priority" in refused.stderr and "definitions[0].queue" in refused.stderr


@pytest.fixture
async def broker(broker_url: str) -> AsyncIterator[Broker]:
    """RabbitMQ, under names of this test alone."""
    prefix = f"test-{token_hex(6)}."
    found = connect(broker_url, prefix=prefix)
    await found.open()
    await found.ready(timedelta(seconds=20))
    yield found
    await found.close()
    await delete(broker_url, Topology(prefix))


async def test_a_change_is_announced_with_nothing_but_a_broker(broker: Broker, broker_url: str) -> None:
    """DEF-04, CLI: every scheduler hears of it; the settings are those of the broker alone."""
    listener = await broker.listen(DEFINITION_CHANGED)
    given = {"HEADWAY_BROKER_URL": broker_url, "HEADWAY_BROKER_PREFIX": broker.topology.prefix}
    for options, said in (((), "updated"), (("--change", "deleted", "--tenant", "acme"), "deleted")):
        done = await asyncio.to_thread(headway, "definitions", "announce", "a/report", *options, given=given)
        assert (done.code, done.out) == (0, f"a/report: {said} is announced\n"), done.err
    heard: list[object] = []
    while len(heard) < 2:
        heard += [parse(delivery.body) for delivery in await listener.receive()]
    assert heard == [
        DefinitionChanged(definition="a/report", version=0, change="updated"),
        DefinitionChanged(tenant="acme", definition="a/report", version=0, change="deleted"),
    ]
    await listener.close()


@pytest.mark.parametrize(
    ("options", "given", "code", "said"),
    [
        ((), {}, 2, "HEADWAY_BROKER_URL"),
        ((), {"HEADWAY_BROKER_URL": "memory://"}, 2, "HEADWAY_BROKER_URL: a broker in memory reaches its own process only"),
        (("--change", "eaten"), {"HEADWAY_BROKER_URL": "memory://"}, 2, "--change"),
        ((), {"HEADWAY_BROKER_URL": "amqp://127.0.0.1:1"}, 3, "broker"),
    ],
)
def test_an_announcement_that_reaches_nobody_says_so(options: tuple[str, ...], given: dict[str, str], code: int, said: str) -> None:
    """CLI: bad settings are exit code 2 with their name, a broker that does not answer is exit code 3."""
    done = headway("definitions", "announce", "report", *options, given=given)
    assert done.code == code and said in done.err, done


def test_every_change_can_be_announced() -> None:
    """DEF-04: the option takes exactly what the message may say."""
    assert tuple(one.value for one in Change) == get_args(bodies.Change)
