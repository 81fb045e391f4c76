"""Celery's beat schedule as definitions: what is taken, what is not and why; nothing is executed, and a repetition changes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.cli.importing.celery_beat import is_dump, translate
from headway.core.errors import Invalid
from headway.store.tx import Database
from tests.cli.importing.saving import changes, definitions, reasons

EXAMPLE = Path(__file__).parents[3] / "examples" / "celery_beat" / "schedule.py"


def source(schedule: str, more: str = "", head: str = "") -> str:
    """A Python file with one entry, named `e`."""
    return f"{head}\nbeat_schedule = {{'e': {{'task': 'a.b', 'schedule': {schedule}, {more}}}}}\n"


def only(text: str, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The one definition of a text, and its one schedule."""
    translation = translate(text, **options)
    assert not translation.refused
    (definition,) = definitions(translation)
    (schedule,) = definition["schedules"]
    return definition, schedule


def test_the_example() -> None:
    """RUN-16: entries of a real settings module are taken with their queue, priority, arguments by name and zone; the rest is said."""
    translation = translate(EXAMPLE.read_text())
    prices, report, carts = definitions(translation)
    assert (prices["name"], prices["handler"], prices["attempts"]) == ("refresh-prices-every-5-minutes", "shop.tasks.refresh_prices", 3)
    assert (prices["queue"], prices["parameters"]) == ("prices", {"source": "all"})
    assert prices["schedules"] == [{"name": "default", "every": "5m", "allowed_delay": "4m"}]
    assert (report["name"].rpartition("-")[0], report["parameters"], report["priority"]) == ("send-the-daily-report", {"kind": "daily"}, 5)
    assert report["schedules"] == [{"name": "default", "cron": "30 7 * * mon-fri", "zone": "Europe/Berlin"}]
    assert carts["schedules"][0]["every"] == "6h"
    assert reasons(translation) == [
        "13 options.expires is taken as allowed_delay: a later start is told of, not left out",
        "29 Celery runs it when both day fields match, Headway when either does: check one of them in the job",
    ]


async def test_a_repetition_changes_nothing(database: Database) -> None:
    """DEF-15: the same file makes the same document, and the second time nothing changes; a new time is an update."""
    text = EXAMPLE.read_text()
    assert translate(text) == translate(text)
    assert await changes(database, translate(text)) == ["created"] * 3
    assert await changes(database, translate(text)) == []
    assert await changes(database, translate(text.replace("hours=6", "hours=8"))) == ["updated"]


def test_nothing_is_executed(tmp_path: Path) -> None:
    """A file is read and never run: what it would do does not happen, and what only running it would tell is said."""
    trace = tmp_path / "trace"
    head = f"open({str(trace)!r}, 'w')\nimport missing_module\nraise SystemExit"
    assert only(source("10", head=head))[1]["every"] == "10s"
    said = reasons(translate(source(f"open({str(trace)!r}, 'w')")))
    assert len(said) == 1 and "is known only when it runs" in said[0]
    assert not trace.exists()


@pytest.mark.parametrize(
    ("written", "rule"),
    [
        ("10", {"every": "10s"}),
        ("0.5", {"every": "500ms"}),
        ("MINUTE * 5", {"every": "5m"}),
        ("timedelta(days=1, hours=2)", {"every": "26h"}),
        ("datetime.timedelta(0, 90)", {"every": "90s"}),
        ("schedule(run_every=timedelta(minutes=1))", {"every": "1m"}),
        ("crontab()", {"cron": "* * * * *"}),
        ("celery.schedules.crontab(minute=0, hour='*/3')", {"cron": "0 */3 * * *"}),
        ("every(15, 4)", {"cron": "15 4 * * *"}),
        ("crontab(minute=[0, 30], hour=range(8, 11), day_of_week='Monday,friday')", {"cron": "0,30 8,9,10 * * mon,fri"}),
        ("crontab(0, 0, day_of_month='1', month_of_year='*/3')", {"cron": "0 0 1 */3 *"}),
        ("crontab(**{})", None),
    ],
)
def test_schedules(written: str, rule: dict[str, str] | None) -> None:
    """DEF-07, DEF-09: seconds, lengths of time and crontabs, however they are written, are the rule that fires as they did."""
    text = source(written, head="from celery.schedules import crontab as every\nMINUTE = 60")
    if rule is None:
        assert not definitions(translate(text))
        return
    _, schedule = only(text)
    assert {name: value for name, value in schedule.items() if name not in ("name", "zone")} == {
        name: value.lower() if name == "cron" else value for name, value in rule.items()
    }
    assert schedule.get("zone", "UTC") == "UTC"


@pytest.mark.parametrize(
    "text",
    [
        "app.conf.beat_schedule = {'e': {'task': 'a.b', 'schedule': 5}}",
        "beat_schedule: dict = {'e': {'task': 'a.b', 'schedule': 5}}",
        "CELERYBEAT_SCHEDULE = {'e': {'task': 'a.b', 'schedule': 5}}",
        "class Config:\n    beat_schedule = {'e': dict(task='a.b', schedule=5)}",
        "app.conf.update(beat_schedule={'e': {'task': 'a.b', 'schedule': 5}})",
        "app.conf.beat_schedule.update({'e': {'task': 'a.b', 'schedule': 5}})",
        "PLAN = {'e': {'task': 'a.b', 'schedule': 5}}\napp.conf.beat_schedule = PLAN",
        "beat_schedule = {}\nbeat_schedule['e'] = {'task': 'a.b', 'schedule': 5}",
        "beat_schedule = {'e': {'task': 'a.b', 'schedule': 5}}\napp.conf.beat_schedule = beat_schedule",
    ],
)
def test_where_a_schedule_stands(text: str) -> None:
    """DEF-08: every way to set the beat schedule is read."""
    definition, schedule = only(text)
    assert (definition["name"], definition["handler"], schedule["every"]) == ("e", "a.b", "5s")


def test_zones() -> None:
    """CAL-11: the zone that the file names counts, then the one of the command; one that only running it would tell is said."""
    assert only("timezone = 'Asia/Tokyo'" + source("crontab()"), zone="UTC")[1]["zone"] == "Asia/Tokyo"
    assert only("app = Celery('x', timezone='Asia/Tokyo')\nnow(timezone='UTC')" + source("crontab()"))[1]["zone"] == "Asia/Tokyo"
    assert only(source("crontab()"), zone="W. Europe Standard Time")[1]["zone"] == "Europe/Berlin"
    assert reasons(translate("timezone = settings.zone" + source("5"))) == [
        "1 settings.zone is known only when it runs: the zone of --zone is meant"
    ]
    with pytest.raises(Invalid, match="not a time zone"):
        translate("timezone = 'Mars/Base'")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (source("crontab(0, 0, 1)"), "another one in each release"),
        (source("crontab(day_of_month='1-7', day_of_week='sun')"), "both day fields"),
        (source("crontab(hour='22-4')"), "write 22-23,0-4"),
        (source("crontab(hours=2)"), "a crontab has no hours"),
        (source("crontab(hour=None)"), "a number, text, or a list"),
        (source("solar('sunset', 1, 2)"), "solar events have no counterpart"),
        (source("get_schedule()"), "get_schedule() is known only when it runs"),
        (source("timedelta(days=10**9)"), "is known only when it runs"),
        (source("timedelta(days=999999999999)"), "too large"),
        (source("timedelta(years=1)"), "years"),
        (source("0"), "every"),
        (source("'soon'"), "has no schedule that is known here"),
        (source("A", head="A = B\nB = A"), "is made of itself"),
        (source("1 / 0"), "division by zero"),
        (source("+".join(["1"] * 1500)), "recursion"),
        (source("5", "'args': (1,)"), "positional arguments have no names here"),
        (source("5", "'args': (1,)", head="def b(self): ..."), "positional arguments have no names here"),
        (source("5", "'kwargs': {'when': timedelta(1)}"), "is a timedelta, which JSON does not have"),
        (source("5", "'options': {'queue': 'no good'}"), "queue"),
        (source("5", "**more"), "**more is known only when it runs"),
        ("beat_schedule = {'e': entry}", "entry is known only when it runs"),
        ("beat_schedule = {'e': 5}", "an entry is a name and a dictionary"),
        ("beat_schedule = {'e': {'schedule': 5}}", "names no task"),
        ("beat_schedule = load()", "write the entries as a dictionary"),
        ("sender.add_periodic_task(10, test.s('hello'))", "add_periodic_task is known only when it runs"),
    ],
)
def test_what_is_not_taken(text: str, words: str) -> None:
    """DEF-08: each entry that cannot be taken is named with its line and the reason, and hinders no other."""
    translation = translate(f"{text}\napp.conf.beat_schedule['good'] = {{'task': 'c', 'schedule': 7}}")
    assert [one["name"] for one in definitions(translation)] == ["good"]
    (reason,) = reasons(translation)
    assert words in reason


def test_what_is_taken_in_part() -> None:
    """DEF-08: an option without a counterpart is said and costs the entry nothing else."""
    options = "'options': {'priority': 200, 'routing_key': 'x', 'expires': now()}, 'relative': True"
    assert "now() is known only" in reasons(translate(source("5", options)))[0]
    translation = translate(source("5", options.replace("now()", "'2026-01-01'")))
    (definition,) = definitions(translation)
    assert definition["priority"] == 9
    said = " ".join(reasons(translation))
    assert all(word in said for word in ("options.priority 200 is taken as 9", "options.routing_key", "options.expires", "relative"))


def test_arguments_find_their_names() -> None:
    """RUN-16: positional arguments take the names of the task's own function where it stands in the file, without its `self`."""
    assert only(source("5", "'args': (1, 2)", head="def b(self, x, y=0): ..."))[0]["parameters"] == {"x": 1, "y": 2}


def test_dumps() -> None:
    """RUN-16: entries as JSON or YAML, with a crontab or an interval as RedBeat keeps them, are taken like those of a file."""
    entries = {
        "a": {"task": "t", "schedule": {"__type__": "crontab", "minute": "0", "hour": "4"}, "enabled": False, "args": []},
        "b": {"task": "t", "schedule": {"__type__": "interval", "every": 30.0, "relative": False}, "kwargs": {"x": 1}},
        "c": {"task": "t", "schedule": 60},
    }
    translation = translate(json.dumps({"beat_schedule": entries, "timezone": "Asia/Tokyo"}), dump=True)
    first, second, third = definitions(translation)
    assert first["schedules"] == [{"name": "default", "cron": "0 4 * * *", "zone": "Asia/Tokyo", "enabled": False}]
    assert (second["schedules"][0]["every"], second["parameters"], third["schedules"][0]["every"]) == ("30s", {"x": 1}, "1m")
    lines = translate("a: {task: t, schedule: 5}\nb:\n  task: t\nc: 5\n", dump=True)
    assert [one["name"] for one in definitions(lines)] == ["a"]
    assert [one.partition(" ")[0] for one in reasons(lines)] == ["2", "4"]


def test_fixtures() -> None:
    """RUN-16: a dump of django-celery-beat is taken: intervals, crontabs with their zone, arguments as text, what runs once is not."""
    task = {"task": "t", "args": "[]", "kwargs": '{"x": 1}', "queue": None, "priority": 3, "expire_seconds": None, "enabled": True}
    rows = [
        {"model": "django_celery_beat.intervalschedule", "pk": 1, "fields": {"every": 2, "period": "hours"}},
        {
            "model": "django_celery_beat.crontabschedule",
            "pk": 1,
            "fields": {"minute": "5", "hour": "*", "day_of_week": "*", "day_of_month": "*", "month_of_year": "*", "timezone": "Asia/Tokyo"},
        },
        {"model": "django_celery_beat.periodictask", "pk": 1, "fields": {**task, "name": "a", "interval": 1}},
        {
            "model": "django_celery_beat.periodictask",
            "pk": 2,
            "fields": {**task, "name": "b", "crontab": 1, "start_time": "2026-01-01T00:00:00Z"},
        },
        {"model": "django_celery_beat.periodictask", "pk": 3, "fields": {**task, "name": "c", "interval": 1, "one_off": True}},
        {"model": "django_celery_beat.periodictask", "pk": 4, "fields": {**task, "name": "d", "interval": 9}},
        {"model": "django_celery_beat.periodictask", "pk": 5, "fields": {**task, "name": "e", "interval": 1, "kwargs": "{"}},
        7,
    ]
    translation = translate(json.dumps(rows, indent=0), dump=True)
    first, second = definitions(translation)
    assert (first["schedules"][0]["every"], first["parameters"], first["priority"]) == ("2h", {"x": 1}, 3)
    assert second["schedules"] == [{"name": "default", "cron": "5 * * * *", "zone": "Asia/Tokyo", "starts_at": "2026-01-01T00:00:00Z"}]
    said = reasons(translation)
    assert [any(word in one for one in said) for word in ("runs once", "not in the fixture", "Expecting", "no row")] == [True] * 4


def test_what_kind_of_file_it_is() -> None:
    """A file's name says whether it is a dump; without one, JSON is."""
    assert [is_dump(name, "") for name in ("a.py", "a.json", "a.yaml", "a.yml", "-")] == [False, True, True, True, False]
    assert is_dump("-", "[]") and is_dump("-", "{}") and not is_dump("-", "5") and not is_dump("a.py", "{}")


def test_what_cannot_be_read() -> None:
    """DEF-08: a file that is neither is bad input."""
    for text in ("beat_schedule = {", "a\0b", "(" * 5000):
        with pytest.raises(Invalid, match="FILE: is no Python"):
            translate(text)
    with pytest.raises(Invalid, match="FILE: is neither YAML nor JSON"):
        translate("a: [", dump=True)


WORDS = ["crontab(", ")", "minute=", "5", "'*'", "{", "}", "'a':", ",", "timedelta(", "-", "*", "x", "[", "]", "None", "**", "lambda: 0"]


@given(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), st.text(max_size=40))
def test_any_text_is_answered(schedule: str, noise: str) -> None:
    """DEF-08: whatever a file holds, it becomes a document that the platform takes, or lines with reasons, or it is bad input."""
    for text, dump in ((source(schedule), False), (noise, False), (noise, True), (f"e: {{task: t, schedule: {noise}}}", True)):
        try:
            translation = translate(text, dump=dump)
        except Invalid as error:
            assert error.problems[0].field == "FILE"
            continue
        definitions(translation)
        assert all(refused.reason for refused in translation.refused)
