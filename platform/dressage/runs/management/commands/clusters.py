"""``manage.py clusters``: the size of each cluster, and its limits."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dressage.clusters.models import Cluster
from dressage.clusters.selectors import cluster_names
from dressage.clusters.services import set_limits
from dressage.runs.facts.places import sizes

USUAL = "usual"
_COLUMNS = ("places", "most_cpus", "most_gpus")


class Command(BaseCommand):
    """Shows each cluster; with a name and a limit, sets the limit."""

    help = (
        "Show the clusters with their sizes and slots. With --name, set how many runs may train at a time "
        "(--places), and the limits of its autoscaler (--most-cpus, --most-gpus). "
        f"{USUAL!r} resets a number: MAX_ACTIVE_RUNS slots, and no growth."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--name", help="name of the cluster")
        parser.add_argument("--places", help=f"a number from 0, or {USUAL!r}")
        parser.add_argument("--most-cpus", help=f"a number from 0, or {USUAL!r}")
        parser.add_argument("--most-gpus", help=f"a number from 0, or {USUAL!r}")

    def handle(self, *args: Any, **options: Any) -> None:
        changes = {column: _number(options[column], column) for column in _COLUMNS if options.get(column) is not None}
        if (options.get("name") is None) != (not changes):
            raise CommandError("Give --name together with at least one of --places, --most-cpus and --most-gpus.")
        if changes:
            if options["name"] not in cluster_names():
                raise CommandError(
                    f"There is no cluster {options['name']!r}; choose from {', '.join(cluster_names())}."
                )
            set_limits(options["name"], changes)
        self._show()

    def _show(self) -> None:
        faults = dict(Cluster.objects.exclude(fault="").values_list("name", "fault"))
        for size in sizes():
            report = size.report
            has = "size unknown"
            if report is not None:
                has = f"{report.nodes} nodes, {report.cpus:g} CPUs, {report.gpu_count:g} GPUs"
            grows = f", grows to {size.amount_at_most}" if size.grows else ""
            fault = f"; {faults[size.name]}" if size.name in faults else ""
            self.stdout.write(f"{size.name}: {size.taken} of {size.places} slots are taken; {has}{grows}{fault}")


def _number(text: str, column: str) -> int | None:
    if text == USUAL:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 7:
        option = f"--{column.replace('_', '-')}"
        raise CommandError(f"{option} must be a number from 0, or {USUAL!r}, not {text!r}.")
    return int(text)
