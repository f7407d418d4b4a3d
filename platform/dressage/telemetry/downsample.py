"""Charts: min, mean and max per bucket, computed in the database.

Buckets are [k·w, (k+1)·w) with w a power of two, so they do not move while a run grows. A bucket is drawn at the x of
its last point. On axes other than steps, long ranges are read from rollups, which are not divided. Non-finite values
are left out of min, mean and max; their x are reported.
"""

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import connection, transaction

from dressage.telemetry.axes import Axes, XAxis
from dressage.telemetry.lines import FOREVER, Line
from dressage.telemetry.rolled import Cover, aggregate, cover
from dressage.telemetry.rollups import WIDTH, rolled_up
from dressage.telemetry.sums import FINITE, SCALE

_LEAST_FILLED = 0.5
"""Share of the requested buckets that rollups must fill on an axis other than steps; otherwise points are read."""
_IF_SEVERAL = "CASE WHEN max(n) > 1 THEN"


@dataclass
class MetricSeriesDocument:
    """A down-sampled metric. Lists have one entry per bucket; entries are None if no value was finite."""

    x: list[float] = field(default_factory=list)
    """x of each bucket's last point."""
    min: list[float | None] = field(default_factory=list)
    mean: list[float | None] = field(default_factory=list)
    max: list[float | None] = field(default_factory=list)
    raw_count: int = 0
    """Points in the buckets, including non-finite ones."""
    nan: list[float] = field(default_factory=list)
    """x of the non-finite values."""


def bucket_width(low: float, high: float, max_points: int, *, whole: bool) -> float:
    """The smallest power of two with at most ``max_points`` buckets in [low, high]; at least 1 if ``whole``."""
    span = high - low
    exponent = math.ceil(math.log2(span / max_points)) if span > 0 else 0
    width = 2.0 ** (max(0, exponent) if whole else exponent)
    # A range seldom begins at the edge of a bucket, so one more may be needed.
    while math.floor(high / width) - math.floor(low / width) >= max_points:
        width *= 2
    return width


def query(
    run_id: str,
    axes: Axes,
    series: dict[int, str],
    line: Line,
    *,
    x: XAxis,
    low: float | None,
    high: float | None,
    max_points: int,
    superseded: bool = False,
) -> dict[str, MetricSeriesDocument]:
    """Down-sample.

    Args:
        run_id: the run.
        axes: data from which its axes are computed.
        series: series id → name.
        line: which points count.
        x: step, seconds since the start, tokens trained on, GPU hours, or their price.
        low: smallest x, or None.
        high: largest x, or None.
        max_points: maximum number of buckets per series.
        superseded: instead of the line, points that later attempts have replaced.
    """
    found = {name: MetricSeriesDocument() for name in series.values()}
    condition = _counts(line, superseded)
    source, arguments = _source(run_id, axes, list(series), line, x, condition, superseded)
    bounds = " AND ".join(
        [*(["x >= %(low)s"] if low is not None else []), *(["x <= %(high)s"] if high is not None else [])]
    )
    where = f"WHERE {bounds}" if bounds else ""
    arguments |= {"low": low, "high": high, "scale": SCALE}
    with transaction.atomic(), connection.cursor() as cursor:
        # Memory for grouping: the planner expects far more groups than there are, and would sort all rows.
        cursor.execute("SET LOCAL work_mem = '64MB'")
        key, steps = _bucket_key(cursor, axes, x, source, condition, where, arguments, max_points)
        rolled = {} if superseded or steps is None else rolled_up(run_id)
        if steps is not None and rolled:
            moments = "" if x == "step" else _moments(axes, line, x, condition)
            covered = cover(line, rolled, steps.first, steps.last)
            rows, all_finite = _from_rollups(cursor, list(series), covered, moments, arguments)
        else:
            rows, all_finite = _from_points(cursor, key, source, where, arguments)
        if not all_finite:
            points = f"SELECT series_id, x FROM ({source}) AS points {where}"  # nosec B608
            cursor.execute(f"{points} {'AND' if where else 'WHERE'} NOT ({FINITE}) ORDER BY series_id, x", arguments)
            for series_id, at in cursor.fetchall():
                found[series[series_id]].nan.append(at)
    for series_id, x_last, smallest, means, largest, count in rows:
        buckets = found[series[series_id]]
        buckets.x, buckets.min, buckets.raw_count = x_last, smallest, count
        if largest is None:
            buckets.mean = buckets.max = smallest
            continue
        buckets.max = largest
        # The mean lies between the extremes by definition; rounding may put it just outside.
        buckets.mean = [
            None if mean is None else min(max(mean / SCALE, low), high)
            for low, mean, high in zip(smallest, means, largest, strict=True)
        ]
    return found


def _from_rollups(
    cursor: Any, series: list[int], covered: Cover, moments: str, arguments: dict[str, Any]
) -> tuple[list[tuple[Any, ...]], bool]:
    """Rows like those of ``_aggregate``, and whether all values are finite."""
    rows = list(aggregate(cursor, series, covered, arguments["width"], moments, arguments))
    return [row[:-1] for row in rows], all(points == finite for *_, points, finite in rows)


def _from_points(
    cursor: Any, key: str, source: str, where: str, arguments: dict[str, Any]
) -> tuple[list[tuple[Any, ...]], bool]:
    """The same, from single points."""
    rows = _aggregate(cursor, "value", key, source, where, arguments)
    # Testing for finite values takes a sixth of the time, so only if needed. A sum tests all numbers together.
    if all(math.isfinite(sum(smallest) + sum(largest or ())) for _, _, smallest, _, largest, _ in rows):
        return rows, True
    return _aggregate(cursor, f"CASE WHEN {FINITE} THEN value END", key, source, where, arguments), False


def _aggregate(
    cursor: Any, value: str, key: str, source: str, where: str, arguments: dict[str, Any]
) -> list[tuple[Any, ...]]:
    """(series id, last x, min, mean on the scale, max, number of points); lists with an entry per bucket, in order.

    Mean and max are None if each bucket has one point, which is its own mean and extremes.
    """
    cursor.execute(
        f"""
        SELECT series_id, array_agg(at), array_agg(low), {_IF_SEVERAL} array_agg(mean) END,
            {_IF_SEVERAL} array_agg(high) END, sum(n)::bigint
        FROM (
            SELECT series_id, max(x) AS at, min(v) AS low, sum(v * %(scale)s) / count(v) AS mean, max(v) AS high,
                count(*) AS n
            FROM (SELECT series_id, x, {value} AS v FROM ({source}) AS points {where}) AS p
            GROUP BY series_id, {key} ORDER BY series_id, at
        ) AS buckets
        GROUP BY series_id ORDER BY series_id
        """,  # nosec B608
        arguments,
    )
    return cursor.fetchall()


class _Steps(NamedTuple):
    """Range of steps that may be read from rollups; None: no limit."""

    first: float | None
    last: float | None


def _bucket_key(
    cursor: Any,
    axes: Axes,
    x: XAxis,
    source: str,
    condition: str,
    where: str,
    arguments: dict[str, Any],
    max_points: int,
) -> tuple[str, _Steps | None]:
    """SQL of the bucket of a row; sets ``width``. The range is that of the steps shown, the same for all series.

    Also returns the steps that may be read from rollups: None if buckets are too narrow for them.
    """
    if x == "step":
        key = _step_key(cursor, source, condition, where, arguments, max_points)
        whole = arguments["width"] % WIDTH == 0
        return key, _Steps(arguments["low"], arguments["high"]) if whole else None
    counted = f"SELECT * FROM telemetry_moment p WHERE {condition}"  # nosec B608
    moments = f"SELECT step, {axes.sql(x)} AS x FROM ({counted}) AS m WHERE run_id = %(run)s"  # nosec B608
    columns = "min(x), max(x), count(*), min(step), max(step)"
    cursor.execute(f"SELECT {columns} FROM ({moments}) AS p {where}", arguments)  # nosec B608
    first, last, count, *steps = cursor.fetchone()
    if count <= max_points:
        return "x", None
    arguments["width"] = bucket_width(first, last, max_points, whole=False)
    # The positions of single steps within a rollup are unknown: all of it counts in the bucket of its last step.
    rolled = _Steps(*steps) if count >= WIDTH * max_points * _LEAST_FILLED else None
    return "floor(x / %(width)s)", rolled


def _step_key(cursor: Any, source: str, condition: str, where: str, arguments: dict[str, Any], max_points: int) -> str:
    """The same for steps, whose first and last come from an index."""
    moments = f"SELECT step AS x FROM telemetry_moment p WHERE run_id = %(run)s AND ({condition})"  # nosec B608
    cursor.execute(f"SELECT min(x), max(x) FROM ({moments}) AS p {where}", arguments)  # nosec B608
    first, last = cursor.fetchone()
    if first is None:  # only evaluations
        cursor.execute(f"SELECT min(x), max(x) FROM ({source}) AS points {where}", arguments)  # nosec B608
        first, last = cursor.fetchone()
    arguments["width"] = 1 if first is None else int(bucket_width(first, last, max_points, whole=True))
    return "x / %(width)s"


def _counts(line: Line, superseded: bool) -> str:
    """SQL for whether a row ``p`` belongs to the line, or to the points that later attempts have replaced."""
    if line.is_single and not superseded:
        return "TRUE"
    ends = ((number, end) for number, end in line.ends.items() if end < FOREVER)
    joined = " OR ".join(f"(p.attempt = {number} AND p.step > {end})" for number, end in ends) or "FALSE"
    return joined if superseded else f"NOT ({joined})"


def _source(
    run_id: str, axes: Axes, series: list[int], line: Line, x: XAxis, condition: str, superseded: bool
) -> tuple[str, dict[str, Any]]:
    """SQL of (series_id, x, value), and its arguments."""
    arguments: dict[str, Any] = {"series": series, "run": run_id, **axes.arguments(x)}
    # A new attempt may repeat the evaluation of the step it resumed from: of two points of one step, the newer counts.
    distinct = "" if line.is_single or superseded else "DISTINCT ON (p.series_id, p.step)"
    order = "ORDER BY p.series_id, p.step, p.attempt DESC" if distinct else ""
    points = f"""
        SELECT {distinct} p.series_id, p.step, p.attempt, p.value FROM telemetry_point p
        WHERE p.series_id = ANY(%(series)s) AND ({condition}) {order}
    """  # nosec B608
    if x == "step":
        return f"SELECT series_id, step AS x, value FROM ({points}) AS p", arguments  # nosec B608
    moments = _moments(axes, line, x, condition)
    return f"WITH {moments} SELECT series_id, x, value FROM ({points}) AS p JOIN m USING (step)", arguments  # nosec B608


def _moments(axes: Axes, line: Line, x: XAxis, condition: str) -> str:
    """SQL of a table ``m`` with the x of each step on the line."""
    # The moment of a step is that of the attempt that trained it, even if a later attempt has evaluated it.
    distinct, order = ("", "") if line.is_single else ("DISTINCT ON (step)", "ORDER BY step, attempt DESC")
    # Materialized, so that x is computed once per step and not once per point.
    return f"""
        m AS MATERIALIZED (
            SELECT {distinct} step, {axes.sql(x)} AS x FROM (SELECT * FROM telemetry_moment p WHERE {condition}) AS m
            WHERE run_id = %(run)s {order}
        )
    """  # nosec B608
