"""Policies that were registered by the path of a run's folder: each is tied to the run, if that is of its team.

Up to here the folder of all runs was open to every team. A policy that lies in the run of another team gets no run, and
is refused when it is used next.
"""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import migrations, models


def tie_to_runs(apps: Any, schema_editor: Any) -> None:
    roots = [Path(settings.RUN_ROOT), Path(settings.RUN_ROOT).resolve()]
    runs, checkpoints = apps.get_model("runs", "Run"), apps.get_model("runs", "Checkpoint")
    for policy in apps.get_model("policies", "Policy").objects.all():
        root = next((root for root in roots if Path(policy.path).is_relative_to(root)), None)
        inside = Path(policy.path).relative_to(root) if root else Path()
        if not inside.parts or not runs.objects.filter(pk=inside.parts[0], team_id=policy.team_id).exists():
            continue
        policy.run = inside.parts[0]
        rows = checkpoints.objects.filter(run_id=policy.run, path=Path(*inside.parts[1:]).as_posix())
        policy.checkpoint = rows.values_list("pk", flat=True).first()
        policy.save(update_fields=["run", "checkpoint"])


class Migration(migrations.Migration):

    dependencies = [
        ("policies", "0001_initial"),
        ("runs", "0001_initial"),
    ]

    operations = [
        migrations.AddField("policy", "run", models.CharField(max_length=40, null=True)),
        migrations.AddField("policy", "checkpoint", models.CharField(max_length=40, null=True)),
        migrations.RunPython(tie_to_runs, migrations.RunPython.noop, elidable=True),
    ]
