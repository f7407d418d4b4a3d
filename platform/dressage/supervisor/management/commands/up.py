"""``manage.py up``: start everything and stay in the foreground until Ctrl-C."""

import os
import subprocess
import sys
import threading
from argparse import ArgumentParser
from typing import Any

import psutil
from django.core.management.base import BaseCommand, CommandError

from dressage.cluster_list import NamedCluster
from dressage.config import ROOT, config
from dressage.embedded.private_files import keep_new_files_private, tighten
from dressage.supervisor.arbiter import end, make_arbiter
from dressage.supervisor.exposure import exposure
from dressage.supervisor.former_home import find_former_installation, former_installation_message
from dressage.supervisor.joining import refusal_of
from dressage.supervisor.keeper import end_leftovers, keep
from dressage.supervisor.processes import base_environment, servers, services
from dressage.supervisor.production import refusals
from dressage.supervisor.ray_head import RayHead
from dressage.supervisor.ready import wait_for_database, wait_for_redis, wait_for_web
from dressage.supervisor.taken import lock_home, refuse_taken_port


class Command(BaseCommand):
    """Supervises PostgreSQL, Redis, Ray, the web server and the Celery workers."""

    help = "Start every process of the installation; Ctrl-C stops all of them."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--demo", action="store_true", help="create the demo team and start its run")
        parser.add_argument("--no-run", action="store_true", help="with --demo: do not start a run")

    def handle(self, *args: Any, **options: Any) -> None:
        if former := find_former_installation(os.environ, config.home):
            self.stderr.write(self.style.WARNING(f"\n{former_installation_message(former, config.home)}\n"))
        if config.mode == "production" and (missing := [sentence for _, sentence in refusals(config)]):
            raise CommandError("not ready for production:\n" + "\n".join(f"  - {sentence}" for sentence in missing))
        keep_new_files_private()
        config.home.mkdir(parents=True, exist_ok=True)
        lock = lock_home(config.home, os.getpid())
        if left := end_leftovers(config.home):
            self.stdout.write(f"Ended {left} processes that an earlier start in {config.home} had left.")
        clusters = _clusters()
        refuse_taken_port(config.host, config.port)
        keep()
        self._close_to_others()
        if redis := config.embedded_redis:
            redis.prepare()
        ray = RayHead.prepare(config.home) if any(cluster.is_local for cluster in clusters) else None
        processes = [*servers(config), *services(config, ray)]
        first_service = next(process.name for process in processes if not process.is_server)
        family: list[psutil.Process] = []
        arbiter = make_arbiter(config, processes, {first_service: self._wait_and_migrate}, family)
        threading.Thread(target=self._announce, args=(options["demo"], options["no_run"]), daemon=True).start()
        try:
            arbiter.start()
        finally:
            arbiter.stop()
            end(family)
            lock.close()

    def _close_to_others(self) -> None:
        """Revoke other users' access to the data folder that an earlier release has left."""
        postgres = config.embedded_postgres
        try:
            if postgres:
                postgres.take_back()
            opened = tighten(config.home, passable=bool(postgres and postgres.needs_passage))
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be closed to other users: {error.strerror}.") from error
        if opened:
            names = ", ".join("the folder itself" if path == config.home else path.name for path in opened)
            self.stdout.write(f"Closed to other users of this machine, in {config.home.resolve()}: {names}.")

    def _wait_and_migrate(self) -> None:
        wait_for_database(config.resolved_database_url)
        wait_for_redis(config.resolved_redis_url)
        if not getattr(self, "_migrated", False):
            self._manage("migrate", "--verbosity", "0")
            self._migrated = True

    def _announce(self, demo: bool, no_run: bool) -> None:
        wait_for_web(config.local_address, seconds=120)
        if demo:
            self._manage("demo", *(["--no-run"] if no_run else []))
        if warning := exposure(config):
            self.stdout.write(self.style.WARNING(f"\n{warning}"))
        self.stdout.write(self.style.SUCCESS(f"\n  Dressage is running: {config.public_url}   (Ctrl-C stops it)\n"))
        self.stdout.flush()  # Python buffers output to a pipe or a file in whole blocks

    def _manage(self, *arguments: str) -> None:
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        subprocess.run(command, check=True, env=base_environment(config), stdin=subprocess.DEVNULL)


def _clusters() -> tuple[NamedCluster, ...]:
    """The clusters, after checking that each can be joined. Raises CommandError about the first one that cannot."""
    if config.clusters and config.ray_address:
        raise CommandError("RAY_ADDRESS and DRESSAGE_CLUSTERS are both set: set the address only in DRESSAGE_CLUSTERS.")
    for cluster in config.resolved_clusters:
        if cluster.address is not None and not cluster.is_local and (refusal := refusal_of(cluster)):
            named = f"Cluster {cluster.name}: " if config.clusters else ""
            raise CommandError(f"{named}{refusal}")
    return config.resolved_clusters
