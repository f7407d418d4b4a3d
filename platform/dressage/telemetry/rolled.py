"""Reads of rollups: a line's wide buckets are read from them, and the rest from points."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dressage.telemetry.lines import FOREVER, Line
from dressage.telemetry.rollups import WIDTH
from dressage.telemetry.sums import FINITE, SCALE


class StepSpan(NamedTuple):
    """Steps of one attempt, the last one included."""

    attempt: int
    first: int
    last: int


class Cover(NamedTuple):
    """Sources from which a line is read."""

    rollups: list[StepSpan]
    """Whole buckets, given by their numbers instead of steps."""
    points: list[StepSpan]


def cover(line: Line, rolled_up: dict[int, int], low: float | None, high: float | None) -> Cover:
    """The source of each step of the line in [low, high].

    An attempt counts from the end of those before it to its own end. A bucket in which one ends is read from points:
    another attempt continues there, and may have evaluated the last step again.

    Args:
        line: which points count.
        rolled_up: the step before which each attempt is rolled up.
        low: smallest step, or None.
        high: largest step, or None.
    """
    first_of_all = 0 if low is None else max(math.ceil(low), 0)
    last_of_all = FOREVER if high is None else min(math.floor(high), FOREVER)
    found = Cover([], [])
    before: int | None = None
    for attempt, end in (line.ends or dict.fromkeys(rolled_up, FOREVER)).items():
        if end < 0:
            continue
        begin, last = max(before or 0, first_of_all), min(end, last_of_all)
        whole = 0 if before is None else _floor(before) + WIDTH
        before = end
        if begin > last:
            continue
        bucket = max(whole, -(-begin // WIDTH) * WIDTH) // WIDTH
        beyond = min(rolled_up.get(attempt, 0), _floor(end), _floor(last_of_all + 1)) // WIDTH
        if bucket >= beyond:
            found.points.append(StepSpan(attempt, begin, last))
            continue
        found.rollups.append(StepSpan(attempt, bucket, beyond - 1))
        edges = (StepSpan(attempt, begin, bucket * WIDTH - 1), StepSpan(attempt, beyond * WIDTH, last))
        found.points.extend(edge for edge in edges if edge.first <= edge.last)
    return found


def _floor(step: int) -> int:
    return step // WIDTH * WIDTH


def aggregate(
    cursor: Any, series: list[int], covered: Cover, width: float, moments: str, arguments: Mapping[str, Any]
) -> Iterator[tuple[Any, ...]]:
    """Rows (series id, last x, min, mean on the scale, max, points, finite points): lists with an entry per bucket.

    Each span is looked up separately for each series: the planner, which cannot see that spans are short, would read
    all.

    Args:
        cursor: cursor of the database.
        series: ids.
        covered: what to read.
        width: width of a bucket; in steps, a multiple of a rollup's. On other axes a rollup is at the x of its last
            step.
        moments: SQL of a table ``m`` with the x of each step; empty: x is the step.
        arguments: arguments of that SQL.
    """
    arguments = {**arguments, "series": series, "width": width, "scale": SCALE}
    for name, spans in (("rollups", covered.rollups), ("points", covered.points)):
        for place, field in enumerate(StepSpan._fields):
            arguments[f"{name}_{field}"] = [span[place] for span in spans]
    x, bucket = ("m.x", "floor(m.x / %(width)s)") if moments else ("step", "step / %(width)s")
    cursor.execute(
        f"""
        WITH {f"{moments}, " if moments else ""} parts AS (
            SELECT wanted AS series_id, r.last AS step, r.low, r.high, r.total, r.finite, r.points
            FROM unnest(%(series)s::bigint[]) AS wanted,
                unnest(%(rollups_attempt)s::int[], %(rollups_first)s::int[], %(rollups_last)s::int[])
                    AS s (attempt, first, last),
                LATERAL (
                    SELECT * FROM telemetry_rollup
                    WHERE series_id = wanted AND bucket BETWEEN s.first AND s.last AND attempt = s.attempt OFFSET 0
                ) AS r
            UNION ALL
            SELECT series_id, step, v, v, v * %(scale)s, (v IS NOT NULL)::int, 1
            FROM (
                SELECT DISTINCT ON (wanted, p.step) wanted AS series_id, p.step, CASE WHEN {FINITE} THEN value END AS v
                FROM unnest(%(series)s::bigint[]) AS wanted,
                    unnest(%(points_attempt)s::int[], %(points_first)s::int[], %(points_last)s::int[])
                        AS s (attempt, first, last),
                    LATERAL (
                        SELECT * FROM telemetry_point
                        WHERE series_id = wanted AND step BETWEEN s.first AND s.last AND attempt = s.attempt OFFSET 0
                    ) AS p
                ORDER BY wanted, p.step, p.attempt DESC
            ) AS single
        )
        SELECT series_id, array_agg(x), array_agg(low), array_agg(mean), array_agg(high), sum(points)::bigint,
            sum(finite)::bigint
        FROM (
            SELECT series_id, max({x}) AS x, min(low) AS low, sum(total) / nullif(sum(finite), 0) AS mean,
                max(high) AS high, sum(points) AS points, sum(finite) AS finite
            FROM parts {"JOIN m USING (step)" if moments else ""}
            GROUP BY series_id, {bucket} ORDER BY series_id, x
        ) AS buckets
        GROUP BY series_id ORDER BY series_id
        """,  # nosec B608
        arguments,
    )
    yield from cursor.fetchall()
