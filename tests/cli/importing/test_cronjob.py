"""CronJobs as definitions: what is taken, what is not and why, and that a repetition changes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from headway.cli.importing.cronjob import translate
from headway.core.errors import Invalid
from headway.store.tx import Database
from tests.cli.importing.saving import changes, definitions, reasons

EXAMPLE = Path(__file__).parents[3] / "examples" / "cronjob" / "cronjobs.yaml"


def manifest(spec: dict[str, Any] | None = None, job: dict[str, Any] | None = None, **container: Any) -> dict[str, Any]:
    """A CronJob `job` that runs `/opt/x` hourly, with more in its parts."""
    one = {"name": "c", "command": ["/opt/x"], **container}
    template = {"spec": {"containers": [one]}}
    return {
        "kind": "CronJob",
        "metadata": {"name": "job"},
        "spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": template, **(job or {})}}, **(spec or {})},
    }


def only(document: dict[str, Any], **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The one definition of a manifest, and its one schedule."""
    (definition,) = definitions(translate(yaml.safe_dump(document), **options))
    (schedule,) = definition["schedules"]
    return definition, schedule


def test_the_example() -> None:
    """RUN-16: command, arguments, environment, zone, deadlines and policy of a real manifest are taken; what is left out is said."""
    translation = translate(EXAMPLE.read_text())
    export, cleanup = definitions(translation)
    assert (export["name"], export["handler"], export["attempts"], export["timeout"]) == ("shop/orders-export", "shell", 3, 1800)
    assert export["parameters"] == {
        "argv": ["/usr/local/bin/export-orders", "--day", "yesterday", "--to", "/srv/exports/orders"],
        "env": {"TARGET": "/srv/exports"},
        "cwd": "/srv/shop",
    }
    (schedule,) = export["schedules"]
    assert (schedule["cron"], schedule["zone"], schedule["overlap"]) == ("15 3 * * 1-5", "Europe/Berlin", "skip")
    assert (schedule["misfire"], schedule["allowed_delay"]) == ("run_once", 600)
    assert cleanup["schedules"][0]["enabled"] is False
    said = reasons(translation)
    assert all(
        any(word in one for one in said) for word in ("DATABASE_PASSWORD comes from the cluster", "image is not pulled", "resources")
    )
    assert {one.split()[0] for one in said} == {"1", "36"}


async def test_a_repetition_changes_nothing(database: Database) -> None:
    """DEF-15: the same manifests make the same document, and the second time nothing changes."""
    text = EXAMPLE.read_text()
    assert translate(text) == translate(text)
    assert await changes(database, translate(text)) == ["created", "created"]
    assert await changes(database, translate(text)) == []
    assert await changes(database, translate(text.replace("15 3", "45 3"))) == ["updated"]


@pytest.mark.parametrize(("policy", "overlap"), [(None, "allow"), ("Allow", "allow"), ("Forbid", "skip"), ("Replace", "cancel_previous")])
def test_concurrency(policy: str | None, overlap: str) -> None:
    """DEF-11: each concurrency policy is the overlap policy that does the same."""
    assert only(manifest({"concurrencyPolicy": policy} if policy else {}))[1]["overlap"] == overlap


def test_tries_are_those_that_are_named() -> None:
    """DEF-01: a limit of retries is one less than the attempts; one that is not named is three attempts, as for all that is imported."""
    assert [only(manifest(job={"backoffLimit": limit}))[0]["attempts"] for limit in (0, 6)] == [1, 7]
    assert only(manifest())[0]["attempts"] == 3


def test_zones_and_intervals() -> None:
    """CAL-11: a zone of its own wins over the one of the command; @every is an interval."""
    assert only(manifest(), zone="W. Europe Standard Time")[1]["zone"] == "Europe/Berlin"
    assert only(manifest({"timeZone": "Asia/Tokyo"}), zone="UTC")[1]["zone"] == "Asia/Tokyo"
    assert only(manifest({"schedule": "@every 1h30m"}))[1]["every"] == "1h30m"
    with pytest.raises(Invalid, match="not a time zone"):
        translate("", zone="Mars/Base")


def test_references_are_put_in() -> None:
    """RUN-16: $(NAME) is replaced in words and later variables where the name is known; $$ is one dollar; the rest is the shell's."""
    env = [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)2"}, {"name": "C"}]
    parameters = only(manifest(command=["sh", "-c"], args=["$(A) $(B) $(date) $$(A) ${A}"], env=env))[0]["parameters"]
    assert parameters == {"argv": ["sh", "-c", "1 12 $(date) $(A) ${A}"], "env": {"A": "1", "B": "12", "C": ""}}


def test_lists_and_other_kinds() -> None:
    """DEF-08: a List stands for its items, JSON is YAML, and what is no CronJob is named and hinders nothing."""
    document = json.dumps({"kind": "List", "items": [{"kind": "Service"}, manifest()]})
    translation = translate(document)
    assert [one["name"] for one in definitions(translation)] == ["job"]
    assert reasons(translation)[0] == "1 is no CronJob"


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (manifest({"schedule": "0 0 L * *"}), "L, W and # are not supported"),
        (manifest({"schedule": "0 0 */2 * 1"}), "when both day fields match"),
        (manifest({"schedule": "@reboot"}), "nothing here starts with the machine"),
        (manifest({"schedule": "TZ=UTC 0 0 * * *"}), "cron"),
        (manifest({"schedule": "@every soon"}), "is not a duration"),
        (manifest({"schedule": None}), "has no schedule"),
        (manifest({"schedule": 5}), "schedule must be text"),
        (manifest({"timeZone": "Mars/Base"}), "not a time zone"),
        (manifest({"concurrencyPolicy": "Perhaps"}), "'Perhaps' is not known"),
        (manifest({"startingDeadlineSeconds": -1}), "must be a whole number"),
        (manifest({"jobTemplate": []}), "jobTemplate must be a mapping"),
        (manifest(command=None, args=["-v"]), "names no command"),
        (manifest(command="/opt/x"), "must be a list of texts"),
        (manifest(job={"template": {"spec": {"containers": []}}}), "has 0 containers"),
        (manifest(job={"template": {"spec": {"initContainers": [{}], "containers": [{}]}}}), "initContainers"),
        ({**manifest(), "metadata": {}}, "has no name"),
        ({"kind": "CronJob"}, "has no name"),
    ],
)
def test_what_is_not_taken(document: dict[str, Any], words: str) -> None:
    """DEF-08: each CronJob that cannot be taken is named with its line and the reason, and hinders no other."""
    good = {**manifest(), "metadata": {"name": "good"}}
    translation = translate(f"---\n{yaml.safe_dump(good)}---\n{yaml.safe_dump(document)}")
    assert [one["name"] for one in definitions(translation)] == ["good"]
    (reason,) = (one for one in reasons(translation) if not one.startswith("2 "))
    assert words in reason


def test_one_name_twice() -> None:
    """DEF-15: of two CronJobs under one name the first is taken, and that is said."""
    text = yaml.safe_dump(manifest())
    translation = translate(f"{text}---\n{text}")
    assert len(definitions(translation)) == 1
    assert any("stands there twice" in one for one in reasons(translation))


def test_what_is_no_yaml() -> None:
    """DEF-08: a file that cannot be read at all is bad input."""
    with pytest.raises(Invalid, match="FILE: is neither YAML nor JSON"):
        translate("a: [")


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(["schedule", "timeZone", "suspend", "jobTemplate", "startingDeadlineSeconds"]), PLAIN),
    st.dictionaries(st.sampled_from(["command", "args", "env", "workingDir", "image"]), PLAIN),
)
def test_any_manifest_is_answered(spec: dict[str, Any], container: dict[str, Any]) -> None:
    """DEF-08: whatever a manifest holds, it becomes a definition that the platform takes, or a reason."""
    translation = translate(json.dumps(manifest(spec, **container)))
    assert definitions(translation) or reasons(translation)
