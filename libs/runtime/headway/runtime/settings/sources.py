"""Where settings are read from.  Strongest first: code, environment, files that hold a secret, the TOML file."""

import os
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from headway.runtime.settings.urls import SecretKnob, Unreadable

PREFIX: Final = "HEADWAY_"
NESTED: Final = "__"
FILE: Final = "_file"

KnobPath: TypeAlias = tuple[str, ...]


def env_name(path: KnobPath) -> str:
    """The one name of a knob, as the environment and every error say it."""
    return PREFIX + NESTED.join(path).upper()


def group_of(field: FieldInfo) -> type[BaseModel] | None:
    """The model of a field that is a group of knobs."""
    kind = field.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def marks(field: FieldInfo) -> tuple[Any, ...]:
    """What a knob's kind is annotated with, also where the knob may be left out (`Kind | None`)."""
    inner = (getattr(kind, "__metadata__", ()) for kind in get_args(field.annotation))
    return (*field.metadata, *chain.from_iterable(inner))


def is_secret(field: FieldInfo) -> bool:
    """Whether a knob's value may come from a file of its own."""
    return any(isinstance(mark, SecretKnob) for mark in marks(field))


def knobs(model: type[BaseModel], above: KnobPath = ()) -> Iterator[tuple[KnobPath, FieldInfo]]:
    """All knobs of a model, those of its groups too, in the order of their declaration."""
    for name, field in model.model_fields.items():
        if group := group_of(field):
            yield from knobs(group, (*above, name))
        else:
            yield (*above, name), field


class Origin(BaseSettings):
    """What all settings share: where they come from, that they never change, and that a wrong name is an error."""

    model_config = SettingsConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The order of our own sources, which stand in for those of the library."""
        return init_settings, Environment(settings_cls), SecretFiles(settings_cls), TomlFile(settings_cls)


class Source(PydanticBaseSettingsSource):
    """A source that answers as a whole."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Not asked: `__call__` answers for all fields."""
        raise NotImplementedError

    def variables(self) -> Iterator[tuple[KnobPath, str]]:
        """What the environment sets, empty values left out, by the path that each name stands for."""
        for name, value in os.environ.items():
            if name.upper().startswith(PREFIX) and value:
                yield tuple(name[len(PREFIX) :].lower().split(NESTED, 1)), value

    def secret_files(self) -> dict[KnobPath, KnobPath]:
        """The paths of `*_FILE` variables, and of the secrets that they stand for."""
        secrets = [path for path, field in knobs(self.settings_cls) if is_secret(field)]
        return {(*path[:-1], path[-1] + FILE): path for path in secrets}


class Environment(Source):
    """`HEADWAY_<KNOB>` and `HEADWAY_<GROUP>__<KNOB>`.

    A name that begins with a known group is taken even if the group has no such knob, so that it is reported.  Any other unknown name is
    left to `strangers`: other processes have settings, too, and Kubernetes puts names of its own beside them.
    """

    def __call__(self) -> dict[str, Any]:
        """What the environment sets."""
        found: dict[str, Any] = {}
        files = self.secret_files()
        for path, value in self.variables():
            field = self.settings_cls.model_fields.get(path[0])
            if field is None or path in files or (group_of(field) is None) != (len(path) == 1):
                continue
            _put(found, path, value)
        return found


class SecretFiles(Source):
    """`HEADWAY_<SECRET>_FILE` names a file whose text, without its last line end, is the value."""

    def __call__(self) -> dict[str, Any]:
        """The secrets that files hold; an unreadable one stands there as Unreadable, to be reported with all other problems."""
        found: dict[str, Any] = {}
        files = self.secret_files()
        for path, value in self.variables():
            if path in files:
                _put(found, files[path], _content(Path(value)))
        return found


class TomlFile(Source):
    """The file that the knob `config` names: knobs at the top, a table for each group.  A broken file is the validator's to report."""

    def __call__(self) -> dict[str, Any]:
        """What the file sets for this process; groups of other processes and the `jobs` tables are left out."""
        file = self.current_state.get("config")
        if not file:
            return {}
        try:
            content = read_toml(Path(file))
        except ValueError:
            return {}
        return {name: value for name, value in content.items() if name not in elsewhere(self.settings_cls)}


def elsewhere(settings: type[BaseModel]) -> frozenset[str]:
    """The names that a shared file may have at its top beside those of one settings class: other processes' knobs, and `jobs`."""
    others = {name for cls in settings_classes(Origin) for name in cls.model_fields}
    return frozenset({*others, "jobs"} - set(settings.model_fields))


def settings_classes(cls: type[Origin]) -> Iterator[type[Origin]]:
    """Every kind of settings below one: what any process of ours reads."""
    for child in cls.__subclasses__():
        yield child
        yield from settings_classes(child)


def read_toml(file: Path) -> dict[str, Any]:
    """The content of a TOML file.  Raises ValueError, saying why it cannot be read."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file} is not TOML: {error}") from error


def _content(file: Path) -> str | Unreadable:
    try:
        return file.read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        return Unreadable(file, error.strerror or "")
    except UnicodeDecodeError:
        return Unreadable(file, "not UTF-8")


def _put(into: dict[str, Any], path: KnobPath, value: Any) -> None:
    *group, name = path
    for above in group:
        into = into.setdefault(above, {})
    into[name] = value
