"""Rollups: aggregates of each 64 steps, so that the chart of a long run need not read every point.

They lag behind: a bucket is rolled up when its attempt is a whole bucket further. If a point arrives later, such as
from a slow evaluation, its bucket and the following ones are rolled up again.
"""

from typing import Any

from django.db import connection

from dressage.telemetry.models import RolledUp, Rollup, Series
from dressage.telemetry.sums import FINITE, SCALE

WIDTH = 64
"""Steps of a rollup: a power of two, like the widths of buckets."""
PORTION = 150_000
"""Approximate number of points read at a time, since the run is locked while they are read."""
_INSERT = f"""
    INSERT INTO telemetry_rollup (series_id, bucket, attempt, last, low, high, total, finite, points)
    SELECT series_id, step / {WIDTH}, attempt, max(step), min(v), max(v), sum(v * %(scale)s), count(v), count(*)
    FROM (
        SELECT series_id, step, attempt, CASE WHEN {FINITE} THEN value END AS v FROM telemetry_point
        WHERE series_id = ANY(%(series)s) AND step >= %(since)s AND step < %(until)s AND attempt = %(attempt)s
    ) AS p
    GROUP BY series_id, step / {WIDTH}, attempt
"""  # nosec B608


def closed(last_step: int) -> int:
    """The step up to which an attempt that has done ``last_step`` can be rolled up: all whole buckets but the last."""
    return max((last_step + 1) // WIDTH - 1, 0) * WIDTH


def roll_up(run_id: str, attempt: int, resume_step: int, last_step: int) -> bool:
    """Roll up the next portion of an attempt. The caller holds the run's lock. Returns whether there is more."""
    begins = resume_step // WIDTH * WIDTH
    done, _ = RolledUp.objects.get_or_create(run_id=run_id, attempt=attempt, defaults={"until": begins})
    series = list(Series.objects.filter(run_id=run_id).values_list("id", flat=True))
    buckets = max(PORTION // (WIDTH * max(len(series), 1)), 1)
    until = min(done.until + buckets * WIDTH, closed(last_step))
    if until <= done.until:
        return False
    arguments: dict[str, Any] = {"scale": SCALE, "attempt": attempt, "since": done.until, "until": until}
    arguments["series"] = series
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, arguments)
    RolledUp.objects.filter(run_id=run_id, attempt=attempt).update(until=until)
    return until < closed(last_step)


def outdate(run_id: str, attempt: int, step: int) -> None:
    """Drop the rollups that a new point at ``step`` invalidates. The caller holds the run's lock."""
    begins = step // WIDTH * WIDTH
    if RolledUp.objects.filter(run_id=run_id, attempt=attempt, until__gt=step).update(until=begins):
        series = Series.objects.filter(run_id=run_id).values("id")
        Rollup.objects.filter(series_id__in=series, attempt=attempt, bucket__gte=begins // WIDTH).delete()


def rolled_up(run_id: str) -> dict[int, int]:
    """The step before which each attempt is rolled up."""
    return dict(RolledUp.objects.filter(run_id=run_id).values_list("attempt", "until"))
