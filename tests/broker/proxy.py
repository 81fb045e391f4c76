"""A TCP proxy between a client and its broker: it cuts connections, swallows bytes, and takes no connections while it is down."""

import asyncio
from asyncio import Event, Server, StreamReader, StreamWriter, Task
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class Proxy:
    """Stands in front of the broker at `url` under a URL of its own, which stays the same while it is down."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._server: Server | None = None
        self._port = 0
        self._writers: set[StreamWriter] = set()
        self._pipes: set[Task[None]] = set()
        self._flowing = Event()
        self._flowing.set()

    @property
    def url(self) -> str:
        """Where clients connect."""
        user = f"{self._target.username}:{self._target.password}"
        return self._target._replace(netloc=f"{user}@127.0.0.1:{self._port}").geturl()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.flow()
        await self.stop()
        for pipe in self._pipes:
            pipe.cancel()
        await asyncio.gather(*self._pipes, return_exceptions=True)

    async def start(self) -> None:
        """Take connections."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Take no more connections, and cut those that stand."""
        if self._server is not None:
            self._server.close()
        self.cut()

    def cut(self) -> None:
        """End every connection without a word."""
        for writer in self._writers:
            writer.transport.abort()

    def swallow(self) -> None:
        """Let no more bytes through, and keep the connections open."""
        self._flowing.clear()

    def flow(self) -> None:
        """Let bytes through again."""
        self._flowing.set()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._writers.add(writer)
        with suppress(OSError):
            there, back = await asyncio.open_connection(self._target.hostname, self._target.port)
            self._writers.add(back)
            for source, sink in ((reader, back), (there, writer)):
                pipe = asyncio.create_task(self._pipe(source, sink))
                self._pipes.add(pipe)
                pipe.add_done_callback(self._pipes.discard)

    async def _pipe(self, source: StreamReader, sink: StreamWriter) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                await self._flowing.wait()
                sink.write(data)
                await sink.drain()
        sink.transport.abort()
        self._writers.discard(sink)
