"""This scheduler among its equals: a session of its own, and the sessions of the others, who share the schedules with it."""

import os
import socket
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Final
from uuid import UUID, uuid4

import structlog

from headway.core.errors import LeaseLost, Unavailable
from headway.core.rendezvous import owner_of
from headway.store import sessions
from headway.store.sessions import Session
from headway.store.tx import Database

log = structlog.get_logger(__name__)
KIND: Final = "scheduler"


class Membership:
    """Says which schedules are this scheduler's to decide first.

    It spares work and guards nothing: whoever is wrong about the members, with a lease that has lapsed or one that nobody knows of yet,
    decides a slot that was another's, or leaves its own to the others' second look.
    """

    def __init__(self, database: Database, lease: timedelta) -> None:
        self.database = database
        self.lease = lease
        self.me = uuid4()
        self.members: frozenset[UUID] = frozenset()

    async def join(self) -> datetime:
        """Begin a session and learn of the others; returns the database's instant.  Raises Unavailable."""
        me = uuid4()
        async with self.database.begin() as tx:
            await sessions.register(
                tx, Session(me, KIND, socket.gethostname(), os.getpid(), version=version("headway-scheduler")), self.lease
            )
            members = await sessions.live_of(tx, KIND)
        self.me, self.members = me, members
        log.info("session began", session=str(me), members=len(members))
        return tx.now

    async def renew(self) -> datetime:
        """Extend the session, or begin another when it has lapsed, and learn who is there; returns the database's instant.

        Raises Unavailable.
        """
        try:
            async with self.database.begin() as tx:
                await sessions.renew(tx, self.me, self.lease)
                members = await sessions.live_of(tx, KIND)
        except LeaseLost:
            log.warning("lease was lost", session=str(self.me))
            return await self.join()
        if members != self.members:
            log.info("members changed", members=len(members), before=len(self.members))
            self.members = members
        return tx.now

    async def leave(self) -> None:
        """End the session, so that the others need not wait for its lease to lapse; a database that is away is not waited for."""
        try:
            async with self.database.begin() as tx:
                await sessions.stop(tx, self.me)
        except Unavailable as error:
            log.warning("session was left to lapse", session=str(self.me), error=str(error))

    def owns(self, schedule: UUID) -> bool:
        """Whether this scheduler decides a schedule at its instant, and the others look later."""
        return owner_of(schedule, self.members) == self.me if len(self.members) > 1 else self.me in self.members
