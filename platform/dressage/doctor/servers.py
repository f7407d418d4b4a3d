"""Faults of PostgreSQL and Redis: down, not migrated, evicting data, or with a wrong clock."""

from collections.abc import Iterator

import psycopg
import redis

from dressage.doctor.fault import Fault
from dressage.doctor.place import Place

CLOCKS_S = 2.0
"""Seconds by which clocks may differ: leases use database time, tokens that of the web server."""
_PATIENCE_S = 5


def database(place: Place) -> Iterator[Fault]:
    """PostgreSQL responds, has the tables of this release, and agrees on the time."""
    if not place.has_database:
        return
    try:
        with psycopg.connect(place.config.resolved_database_url, connect_timeout=_PATIENCE_S) as connection:
            yield from _tables(place, connection)
            [now] = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone() or (0.0,)
            yield from _clock(place, float(now), "PostgreSQL")
    except (psycopg.Error, ValueError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        yield Fault(
            "database-unreachable",
            f"PostgreSQL refuses the connection: {first}",
            "Check DATABASE_URL, that the server listens there, its pg_hba.conf, and firewalls.",
        )


def _tables(place: Place, connection: "psycopg.Connection[tuple[object, ...]]") -> Iterator[Fault]:
    folder = place.root / "platform" / "dressage"
    known = {(path.parts[-3], path.stem) for path in folder.glob("*/migrations/0*.py")}
    [is_there] = connection.execute("SELECT to_regclass('django_migrations') IS NOT NULL").fetchone() or (False,)
    rows = connection.execute("SELECT app, name FROM django_migrations").fetchall() if is_there else []
    if missing := sorted(known - {(str(app), str(name)) for app, name in rows}):
        yield Fault(
            "database-behind",
            f"{len(missing)} migrations are not applied, starting with {missing[0][0]}.{missing[0][1]}.",
            "Run `manage.py migrate` with the settings of the installation, once, before the new web processes start.",
        )


def queue(place: Place) -> Iterator[Fault]:
    """Redis responds, evicts nothing, and agrees on the time."""
    if not place.has_redis:
        return
    try:
        url = place.config.resolved_redis_url
        with redis.Redis.from_url(url, socket_connect_timeout=_PATIENCE_S, socket_timeout=_PATIENCE_S) as client:
            facts = client.info()
            seconds, micros = client.time()
    except (redis.RedisError, OSError, ValueError) as error:
        yield Fault(
            "redis-unreachable",
            f"Redis does not answer: {error}",
            "Check REDIS_URL, that the server listens there and accepts the password, and firewalls.",
        )
        return
    policy = str(facts.get("maxmemory_policy", "noeviction"))
    if policy != "noeviction":
        yield Fault(
            "redis-evicts",
            f"Redis evicts entries when its memory is full (maxmemory-policy {policy}): sign-in limits and queued"
            " messages may be lost.",
            "Run `redis-cli CONFIG SET maxmemory-policy noeviction`, and write it into redis.conf.",
        )
    yield from _clock(place, float(seconds) + float(micros) / 1e6, "Redis")


def _clock(place: Place, there: float, who: str) -> Iterator[Fault]:
    apart = place.clock() - there
    if abs(apart) > CLOCKS_S:
        yield Fault(
            "clocks-differ",
            f"This machine's clock is {abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} that of {who}.",
            "Synchronise both machines by NTP (`timedatectl set-ntp true`, or chrony).",
        )
