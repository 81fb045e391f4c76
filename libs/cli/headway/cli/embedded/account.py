"""Who the server runs as.  PostgreSQL refuses to run as root, so root lends it an account without rights."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

CANDIDATES = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Account:
    """A system account that owns the server's files and processes."""

    name: str
    uid: int
    gid: int

    def may_enter(self, directory: Path) -> bool:
        """Whether the account may pass through this directory, by its mode bits."""
        found = directory.stat()
        if found.st_uid == self.uid:
            return bool(found.st_mode & stat.S_IXUSR)
        if found.st_gid == self.gid:
            return bool(found.st_mode & stat.S_IXGRP)
        return bool(found.st_mode & stat.S_IXOTH)

    def barrier(self, path: Path) -> Path | None:
        """The outermost directory on the way to `path` that keeps the account out, or None when it can get there."""
        way = [step for step in (*reversed(path.resolve().parents), path.resolve()) if step.is_dir()]
        return next((step for step in way if not self.may_enter(step)), None)

    def own(self, path: Path) -> None:
        """Give a file or an empty directory to the account."""
        os.chown(path, self.uid, self.gid)


def unprivileged() -> Account | None:
    """The account to run the server as, or None when this process is not root and runs it as itself.  Raises LookupError."""
    if os.geteuid() != 0:
        return None
    for name in CANDIDATES:
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, found.pw_uid, found.pw_gid)
    raise LookupError(f"PostgreSQL does not run as root and none of the accounts {', '.join(CANDIDATES)} exists")
