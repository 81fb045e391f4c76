"""Installing what is missing, where that is one command."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

POLICY = Path("/usr/sbin/policy-rc.d")


def install_rabbitmq() -> bool:
    """Install Debian's rabbitmq-server when this is Debian and root runs it, and start nothing; true when that worked."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    commands = (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "rabbitmq-server"])
    with _no_services():
        return all(subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0 for command in commands)


@contextmanager
def _no_services() -> Iterator[None]:
    """A package's scripts ask policy-rc.d whether they may start its service; ours says no, unless there is one already."""
    if POLICY.exists():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    POLICY.chmod(0o755)
    try:
        yield
    finally:
        POLICY.unlink()
