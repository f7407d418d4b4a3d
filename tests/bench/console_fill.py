"""Long telemetry for the benchmark of the console, written by SQL within an installation's own Django."""

import re

METRICS, STEPS, RUNS = 300, 50_000, 10
EVALUATED = 100
"""Steps from one evaluation to the next; other metrics have a point each step."""


def metric_names(count: int) -> list[str]:
    """Names of the registry, of two sources where they name one, and then of a plugin."""
    from trainer_core.metrics import METRICS as REGISTRY

    known = [re.sub(r"<\w+>", source, name) for source in ("mathematics", "code") for name in REGISTRY]
    return [*dict.fromkeys(known), *(f"plugin/metric_{number}" for number in range(count))][:count]


def fill(run_id: str, runs: int = RUNS, metrics: int = METRICS, steps: int = STEPS) -> list[str]:
    """Give ``run_id`` its points, and make ``runs - 1`` more of its kind; returns all ids.

    Values go down and up with a period of a fifth of the run, and a little otherwise in each run and metric.
    """
    from django.db import connection
    from django.utils import timezone

    from dressage.runs.models import Run
    from dressage.telemetry.models import Moment, Point, Series

    first = Run.objects.get(pk=run_id)
    ids = [run_id]
    for number in range(1, runs):
        first.pk, first.name = None, f"Sibling {number}"
        first._state.adding = True
        first.id = f"{run_id[:-2]}{number:02d}"
        first.save()
        ids.append(first.pk)
    now = timezone.now()
    Run.objects.filter(pk__in=ids).update(
        state="succeeded", step=steps, total_steps=steps, attempt=1, started_at=now, finished_at=now
    )
    names = metric_names(metrics)
    Series.objects.bulk_create([Series(run_id=one, name=name) for one in ids for name in names])
    with connection.cursor() as cursor:
        # What is written here need not outlive a crash, and an index is built faster than it grows.
        for model in (Moment, Point):
            cursor.execute(f"ALTER TABLE {model._meta.db_table} SET UNLOGGED")
        cursor.execute("ALTER TABLE telemetry_point DROP CONSTRAINT telemetry_point_pkey")
        cursor.execute(
            "INSERT INTO telemetry_point (series_id, step, attempt, value) "
            "SELECT id, step, 1, 1 + sin(id + 10 * pi() * step / %s) "
            "FROM telemetry_series, generate_series(1, %s) step "
            "WHERE run_id = ANY(%s) AND (name NOT LIKE 'eval/%%' OR step %% %s = 0)",
            [steps, steps, ids, EVALUATED],
        )
        cursor.execute(
            "INSERT INTO telemetry_moment (run_id, step, attempt, at, seconds, tokens_total) "
            "SELECT run, step, 1, %s + step * interval '1 s', 1, step * 1000 "
            "FROM unnest(%s::text[]) run, generate_series(1, %s) step",
            [now, ids, steps],
        )
        cursor.execute("SET maintenance_work_mem = '1GB'")
        cursor.execute("ALTER TABLE telemetry_point ADD PRIMARY KEY (series_id, step, attempt)")
        cursor.execute("VACUUM ANALYZE telemetry_point")
    _roll_up(ids, steps)
    return ids


def _roll_up(ids: list[str], steps: int) -> None:
    """As the platform does while runs go on."""
    from django.utils import timezone

    from dressage.runs.models import Attempt
    from dressage.runs.sweep.rolling import roll_up_all
    from dressage.telemetry.models import RolledUp
    from dressage.telemetry.rollups import closed

    for run in ids:
        Attempt.objects.get_or_create(
            run_id=run, number=1, defaults={"token_sha256": run, "created_at": timezone.now()}
        )
    Attempt.objects.filter(run_id__in=ids).update(last_step=steps)
    while RolledUp.objects.filter(run_id__in=ids, until=closed(steps)).count() < len(ids):
        roll_up_all()
