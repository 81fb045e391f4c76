"""Handlers that every worker brings: what imported definitions run without an application."""

from collections.abc import Mapping
from typing import Final

from headway.sdk.handler import Handler
from headway.worker.builtin.http import http
from headway.worker.builtin.shell import shell

BUILT_IN: Final[Mapping[str, Handler]] = {"shell": Handler.of(shell, name="shell"), "http": Handler.of(http, name="http")}
