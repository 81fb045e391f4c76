"""Crontabs as definitions: what is taken, what is not and why, and that a repetition changes nothing."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.cli.importing.crontab import translate
from headway.cli.importing.translation import Translation
from headway.core.draft import parse_document
from headway.core.errors import Invalid

EXAMPLE = Path(__file__).parents[3] / "examples" / "crontab" / "crontab"


def definitions(translation: Translation) -> list[dict[str, Any]]:
    """The definitions of a translation, after the platform has accepted them."""
    found: list[dict[str, Any]] = translation.document["definitions"]
    if found:
        parse_document(translation.document)
    return found


def only(text: str, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The one definition that a text gives, and its one schedule."""
    translation = translate(text, **options)
    assert translation.refused == ()
    (definition,) = definitions(translation)
    (schedule,) = definition["schedules"]
    return definition, schedule


def reasons(text: str, **options: Any) -> dict[int, str]:
    """Why lines are not taken, by line number."""
    return {refused.line: refused.reason for refused in translate(text, **options).refused}


def test_debians_own_crontab() -> None:
    """RUN-16: every command of a real system crontab is taken, with its user, shell and path, under a name that says what it is."""
    translation = translate(EXAMPLE.read_text(), zone="Europe/Berlin", user_column=True)
    assert translation.refused == ()
    found = definitions(translation)
    assert [one["schedules"][0]["cron"] for one in found] == ["17 * * * *", "25 6 * * *", "47 6 * * 7", "52 6 1 * *"]
    assert {one["schedules"][0]["zone"] for one in found} == {"Europe/Berlin"}
    hourly = found[0]
    assert hourly["name"].startswith("cd-run-parts-report-etc-cron-hourly-")
    assert (hourly["handler"], hourly["attempts"]) == ("shell", 3)
    assert hourly["parameters"] == {
        "command": "cd / && run-parts --report /etc/cron.hourly",
        "user": "root",
        "shell": "/bin/sh",
        "env": {"SHELL": "/bin/sh", "PATH": "/usr/local/sbin:/usr/local/bin:/sbin:/bin:/usr/sbin:/usr/bin"},
    }


def test_a_repetition_changes_nothing() -> None:
    """DEF-15: the same crontab gives the same document; moving lines, comments and other entries renames nothing."""
    first, second = "0 1 * * * /opt/backup --all\n", "# nightly\n30 2 * * 1 /opt/report\n"
    assert translate(first + second) == translate(first + second)
    together = {one["name"]: one for one in definitions(translate(first + second))}
    assert together == {one["name"]: one for one in definitions(translate("\n" + second + "\t\n" + first))}
    assert together.keys() >= {one["name"] for one in definitions(translate(second))}


def test_a_changed_time_keeps_the_definition() -> None:
    """DEF-15: the name follows the command, so that an edit of its times or environment is an update."""
    names = [only(f"{line}\n")[0]["name"] for line in ("0 1 * * * /opt/backup", "*/5 2 * * * /opt/backup", "PATH=/bin\n@daily /opt/backup")]
    assert len(set(names)) == 1


@pytest.mark.parametrize(
    ("macro", "cron"),
    [
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@Hourly", "0 * * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
    ],
)
def test_macros(macro: str, cron: str) -> None:
    """DEF-09: cron's names for common times are taken."""
    assert only(f"{macro}\t/opt/x")[1]["cron"] == cron


def test_settings_hold_for_the_lines_below() -> None:
    """DEF-10: environment lines count from where they stand; quotes keep blanks; nothing is expanded."""
    text = "A = one \n0 1 * * * first\nB='  two '\n\"C\"=$A/x\nSHELL=/bin/bash\nHOME=/srv\n0 1 * * * second\n"
    first, second = definitions(translate(text))
    assert first["parameters"] == {"command": "first", "env": {"A": "one"}}
    assert second["parameters"]["env"] == {"A": "one", "B": "  two ", "C": "$A/x", "SHELL": "/bin/bash", "HOME": "/srv"}
    assert (second["parameters"]["shell"], second["parameters"]["cwd"]) == ("/bin/bash", "/srv")


def test_one_command_at_several_times() -> None:
    """DEF-15: lines that run the same command are schedules of one definition; what they do not share, each says for itself."""
    translation = translate("A=1\n0 1 * * * /opt/x\n0 13 * * 1-5 /opt/x\nA=2\n30 4 * * * /opt/x\n")
    (definition,) = definitions(translation)
    assert [(one["name"], one["cron"], one.get("parameters")) for one in definition["schedules"]] == [
        ("0_1_any_any_any", "0 1 * * *", None),
        ("0_13_any_any_1-5", "0 13 * * 1-5", None),
        ("30_4_any_any_any", "30 4 * * *", {"env": {"A": "2"}}),
    ]


def test_one_command_of_two_users() -> None:
    """DEF-15: a command of another user, or with other input, is another definition."""
    translation = translate("0 1 * * * root /opt/x\n0 1 * * * www-data /opt/x\n0 1 * * * root /opt/x%input\n", user_column=True)
    assert len({one["name"] for one in definitions(translation)}) == 3


@pytest.mark.parametrize(
    ("written", "command", "stdin"),
    [
        ("echo $(date +\\%F)", "echo $(date +%F)", None),
        ("mail joe%Joe,%%Where are your kids?%", "mail joe", "Joe,\n\nWhere are your kids?\n"),
        ("cat%100\\% sure", "cat", "100% sure\n"),
        ("cat%", "cat", "\n"),
    ],
)
def test_percent_signs(written: str, command: str, stdin: str | None) -> None:
    """RUN-16: an unescaped percent sign begins the command's input, further ones are newlines."""
    parameters = only(f"0 22 * * 1-5\t{written}")[0]["parameters"]
    assert (parameters["command"], parameters.get("stdin")) == (command, stdin)


def test_zones() -> None:
    """CAL-11: CRON_TZ sets the zone of what follows, and a Windows id becomes an IANA id; TZ is the command's own affair."""
    text = "0 1 * * * a\nCRON_TZ=America/New_York\nTZ=Asia/Tokyo\n0 1 * * * a\nCRON_TZ=Etc/GMT+3\n0 1 * * * a\n"
    (definition,) = definitions(translate(text, zone="W. Europe Standard Time"))
    assert [one["zone"] for one in definition["schedules"]] == ["Europe/Berlin", "America/New_York", "Etc/GMT+3"]
    assert definition["schedules"][1]["parameters"] == {"env": {"TZ": "Asia/Tokyo"}}
    assert len({one["name"] for one in definition["schedules"]}) == 3
    with pytest.raises(Invalid, match="not a time zone"):
        translate(text, zone="Mars/Base")


def test_an_unknown_zone_takes_its_lines_with_it() -> None:
    """CAL-11: nothing runs in a zone that was not meant."""
    text = "CRON_TZ=Mars/Base\n0 1 * * * a\nCRON_TZ=UTC\n0 1 * * * b\n"
    assert [one["parameters"]["command"] for one in definitions(translate(text))] == ["b"]
    assert list(reasons(text)) == [1, 2]
    assert "'Mars/Base'" in reasons(text)[2]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("@reboot /opt/x", "nothing here starts with the machine"),
        ("@every 5m /opt/x", "@every is not known"),
        ("0 0 L * * /opt/x", "L, W and # are not supported"),
        ("0 22-4 * * * /opt/x", "write 22-23,0-4"),
        ("0 0 30 2 * /opt/x", "never matches"),
        ("61 0 * 13 * /opt/x", "61 is out of range, 0 to 59; month: 13"),
        ("0~59 1 * * * /opt/x", "is not a value"),
        ("0 0 */2 * 1 /opt/x", "cron runs it when both day fields match"),
        ("0 0 1 * */2 /opt/x", "cron runs it when both day fields match"),
        ("0 0 * * *", "has no command"),
        ("@daily", "has no command"),
        ("hello", "has no command"),
        ("0 0 * * * a\0b", "NUL"),
        ("LOGNAME=joe", "cannot be changed"),
        ("RANDOM_DELAY=30", "not delayed at random"),
        ("MAILTO=joe", "no mail is sent"),
    ],
)
def test_what_is_not_taken(line: str, words: str) -> None:
    """DEF-08: each line that cannot be taken is named with its number and the reason, and hinders no other."""
    text = f"# a comment\n{line}\n0 1 * * * /opt/good\n"
    assert [one["parameters"]["command"] for one in definitions(translate(text))] == ["/opt/good"]
    assert list(reasons(text)) == [2]
    assert words in reasons(text)[2]


def test_a_missing_command_behind_a_user() -> None:
    """DEF-08: a user crontab read as a system crontab is noticed where a line gets too short."""
    assert "user and command" in reasons("0 0 * * * reboot", user_column=True)[1]


def test_mail_that_was_off_is_no_loss() -> None:
    """DEF-08: what changes nothing is not complained about."""
    assert reasons('MAILTO=""\n0 1 * * * a\n') == {}


def test_a_line_twice() -> None:
    """DEF-15: the same line twice is one schedule, and said so."""
    assert reasons("0 1 * * * a\n\n0 1 * * * a") == {3: "runs the same at the same times as line 1: taken once"}


def test_files_of_other_systems() -> None:
    """DEF-08: carriage returns, a byte order mark and a missing last newline are no part of a command."""
    assert only("\ufeff0 1 * * * a b  c\r")[0]["parameters"]["command"] == "a b  c"


@given(
    st.lists(st.one_of(st.text(max_size=60), st.builds("{} {}".format, st.sampled_from(["0 1 * * *", "@daily"]), st.text())), max_size=8)
)
def test_any_text_is_answered(written: list[str]) -> None:
    """DEF-08: whatever a file holds, it becomes a document that the platform takes, or lines with reasons."""
    text = "\n".join(written)
    for user_column in (False, True):
        translation = translate(text, user_column=user_column)
        definitions(translation)
        assert all(refused.reason and refused.line <= text.count("\n") + 1 for refused in translation.refused)
