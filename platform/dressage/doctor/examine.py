"""All checks, ordered so that a fault comes before those that it explains."""

from collections.abc import Callable, Iterator

from dressage.doctor import address, cluster, machine, secrets, servers, work
from dressage.doctor.fault import Fault
from dressage.doctor.place import Place
from dressage.supervisor.production import advice, refusals


def production(place: Place) -> Iterator[Fault]:
    """An installation in production has the settings that protect its users."""
    if place.config.mode != "production":
        return
    for name, sentence in refusals(place.config):
        yield Fault(f"production-{name}", sentence, "See docs/configuration.md, Production.")
    for name, sentence in advice(place.config):
        yield Fault(f"production-{name}", sentence, "See docs/configuration.md, Production.", "warning")


CHECKS: tuple[Callable[[Place], Iterator[Fault]], ...] = (
    machine.python_version,
    machine.packages,
    machine.console,
    machine.home,
    machine.shared_memory,
    machine.descriptors,
    machine.port,
    machine.jail,
    secrets.permissions,
    secrets.key_length,
    production,
    servers.database,
    servers.queue,
    work.leases,
    work.queues,
    cluster.ray,
    cluster.gpus,
    address.public_address,
    address.mail,
)


def examine(place: Place) -> list[Fault]:
    """All faults. A check that itself fails is a finding, and does not stop the others."""
    found: list[Fault] = []
    for check in CHECKS:
        try:
            found.extend(check(place))
        except Exception as error:
            found.append(
                Fault(
                    "check-failed",
                    f"The check {check.__name__} failed: {type(error).__name__}: {error}",
                    "Report this line to the maintainers.",
                    "warning",
                )
            )
    return found
