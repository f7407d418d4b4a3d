"""Indexes by which the lists are paged."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Coalesce

from dressage.common.index_operations import index_concurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("telemetry", "0002_rollout_reward"),
    ]

    operations = [
        *index_concurrently(
            "rollout",
            models.Index(fields=["run", "-step", "group_id", "sample", "id"], name="rollout_by_step"),
        ),
        RemoveIndexConcurrently("rollout", "rollout_run_step"),
        *index_concurrently(
            "rollout",
            models.Index("run", Coalesce("reward", models.Value(-1.7e308)), "id", name="rollout_by_reward"),
        ),
        *index_concurrently("rollout", models.Index(fields=["run", "length", "id"], name="rollout_by_length")),
    ]
