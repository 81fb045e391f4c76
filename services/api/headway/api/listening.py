"""Serve an application on a socket for as long as a life lasts."""

import asyncio
import errno
from asyncio import Event
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from socket import AF_INET, AF_INET6, create_server, socket

import uvicorn
from starlette.types import ASGIApp

from headway.core.errors import Invalid

BACKLOG = 2048


class Server(uvicorn.Server):
    """An HTTP server that leaves signals to its process."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def bind(host: str, port: int) -> socket:
    """Return a socket that listens; port 0 is any free one.  Raises Invalid when the address cannot be had."""
    try:
        return create_server((host, port), family=AF_INET6 if ":" in host else AF_INET, backlog=BACKLOG)
    except OSError as error:
        field = "HEADWAY_API__PORT" if error.errno in (errno.EADDRINUSE, errno.EACCES) else "HEADWAY_API__HOST"
        raise Invalid.field(field, f"cannot listen on {host}:{port}: {error.strerror or error}") from error


def server(app: ASGIApp, drain: timedelta) -> Server:
    """Return a server for an application; requests under way get `drain` to end."""
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=max(1, int(drain.total_seconds())),
    )
    return Server(config)


async def serve_until(stopping: Event, http: Server, listening: socket) -> None:
    """Answer requests until `stopping` is set, then finish those under way."""
    serving = asyncio.create_task(http.serve([listening]))
    stopped = asyncio.create_task(stopping.wait())
    await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    http.should_exit = True
    await serving
