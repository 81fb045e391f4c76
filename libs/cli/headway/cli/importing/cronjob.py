"""Kubernetes CronJobs as definitions and schedules.

Each CronJob becomes one definition of the built-in handler `shell` with one schedule; its command runs where the worker does, without
its image.  Translating the same manifests again gives the same document.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from headway.cli.importing.crontab import cron_expression
from headway.cli.importing.manifest import Part
from headway.cli.importing.translation import ATTEMPTS, Gathering, Translation, definition_name
from headway.cli.importing.yaml_lines import documents
from headway.core.errors import Invalid
from headway.core.schedule.zones import zone_name

OVERLAPS: Final = {"Allow": "allow", "Forbid": "skip", "Replace": "cancel_previous"}
# Says nothing about when and what is run, or is answered by the fields that are taken.
_SILENT: Final = frozenset({"name", "restartPolicy"})
_REFERENCE: Final = re.compile(r"\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)")
_EVERY: Final = "@every "


def translate(text: str, *, zone: str = "UTC") -> Translation:
    """Translate manifests; a CronJob without a zone of its own is meant in `zone`.

    Raises Invalid for a zone that does not exist and for a text that is no YAML.
    """
    gathering, zone = Gathering(), zone_name(zone)
    for line, manifest in _manifests(text):
        _take(gathering, line, manifest, zone)
    return gathering.translation()


def _manifests(text: str) -> Iterator[tuple[int, Any]]:
    """The objects of a text with their lines; a List stands for its items."""
    for document in documents(text):
        items = document.value.get("items") if isinstance(document.value, Mapping) else None
        if isinstance(items, list):
            yield from ((document.lines.get("items", document.line), item) for item in items)
        else:
            yield document.line, document.value


def _take(gathering: Gathering, line: int, manifest: Any, zone: str) -> None:
    kind = manifest.get("kind") if isinstance(manifest, Mapping) else None
    if kind != "CronJob":
        gathering.refuse(line, str(kind or manifest), "is no CronJob")
        return
    root = Part.of(manifest, "", [])
    name = _full_name(root.part("metadata"))
    try:
        definition = _definition(name, root.part("spec"), zone)
    except Invalid as error:
        gathering.refuse(line, name, "; ".join(map(str, error.problems)))
        return
    except ValueError as error:
        gathering.refuse(line, name, str(error))
        return
    if gathering.add(line, name, definition):
        for note in root.notes:
            gathering.refuse(line, name, note)


def _full_name(metadata: Part) -> str:
    namespace, name = metadata.text("namespace") or "", metadata.text("name") or ""
    return f"{namespace}/{name}" if namespace else name


def _definition(name: str, spec: Part, zone: str) -> dict[str, Any]:
    if not name:
        raise ValueError("has no name")
    schedule = _schedule(spec, zone)
    job = spec.part("jobTemplate").part("spec")
    tries, timeout = job.whole("backoffLimit"), job.whole("activeDeadlineSeconds")
    for field in ("completions", "parallelism"):
        if (job.whole(field) or 1) != 1:
            job.note(field, "has no counterpart: it runs once at a time")
    pod = job.part("template").part("spec")
    container = _container(pod)
    definition = {
        "name": definition_name(name),
        "description": f"From the CronJob {name}, image {container.text('image') or 'none'}"[:1000],
        "handler": "shell",
        "attempts": ATTEMPTS if tries is None else tries + 1,
        "parameters": _parameters(container),
        "schedules": [schedule],
    }
    spec.note("image", "is not pulled: the command runs where the worker does")
    for part in (spec, job, pod, container):
        part.note_rest(_SILENT)
    return definition if timeout is None else {**definition, "timeout": timeout}


def _schedule(spec: Part, zone: str) -> dict[str, Any]:
    when, own_zone, policy = spec.text("schedule"), spec.text("timeZone"), spec.text("concurrencyPolicy") or "Allow"
    if not when:
        raise ValueError("has no schedule")
    if policy not in OVERLAPS:
        raise ValueError(f"concurrencyPolicy {policy!r} is not known")
    schedule = {"name": "default", **_rule(when.strip(), zone_name(own_zone) if own_zone else zone)}
    # After an outage Kubernetes starts what it missed last, once.
    schedule |= {"overlap": OVERLAPS[policy], "misfire": "run_once"}
    deadline = spec.whole("startingDeadlineSeconds")
    if deadline is not None:
        schedule["allowed_delay"] = deadline
        spec.note("startingDeadlineSeconds", "is taken as allowed_delay: a later start is told of, not left out")
    return schedule | ({"enabled": False} if spec.take("suspend") else {})


def _rule(when: str, zone: str) -> dict[str, Any]:
    if when.startswith(_EVERY):
        return {"every": when.removeprefix(_EVERY).strip()}
    return {"cron": cron_expression(when), "zone": zone}


def _container(pod: Part) -> Part:
    if pod.take("initContainers"):
        raise ValueError("initContainers have no counterpart: nothing runs before the command")
    containers = pod.parts("containers")
    if len(containers) != 1:
        raise ValueError(f"has {len(containers)} containers: a run is one command")
    return containers[0]


def _parameters(container: Part) -> dict[str, Any]:
    env = _environment(container)
    command, arguments = container.texts("command"), container.texts("args")
    if not command:
        raise ValueError("names no command: what its image runs by itself is not known here")
    parameters: dict[str, Any] = {"argv": [_expanded(word, env) for word in [*command, *arguments]], "env": env}
    directory = container.text("workingDir")
    return parameters if directory is None else {**parameters, "cwd": directory}


def _environment(container: Part) -> dict[str, str]:
    env: dict[str, str] = {}
    for variable in container.parts("env"):
        name, value = variable.text("name") or "", variable.text("value")
        if variable.take("valueFrom") is not None:
            container.note(f"env {name}", "comes from the cluster: set it where the worker runs, or in the parameter env")
        else:
            env[name] = _expanded(value or "", env)
    return env


def _expanded(text: str, env: Mapping[str, str]) -> str:
    """A text with `$(NAME)` replaced where the name is known, as Kubernetes does it before anything runs; `$$` is a dollar sign."""
    return _REFERENCE.sub(lambda found: "$" if found[1] is None else env.get(found[1], found[0]), text)
