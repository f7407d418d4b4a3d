"""What came of each prompt, and the rollouts of one prompt."""

import django.db.models.deletion
from django.db import migrations, models

from dressage.common.index_operations import index_concurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("runs", "0012_gpu_spans"),
        ("telemetry", "0003_pages"),
    ]

    operations = [
        migrations.CreateModel(
            name="RowOutcome",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("attempt", models.SmallIntegerField()),
                ("step", models.IntegerField()),
                ("source", models.CharField(max_length=120)),
                ("row", models.IntegerField()),
                ("right", models.IntegerField()),
                ("graded", models.IntegerField()),
                ("reward", models.FloatField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outcomes",
                        to="runs.run",
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["run", "source", "row", "step"], name="outcome_by_row")]},
        ),
        *index_concurrently("rollout", models.Index(fields=["run", "prompt_id"], name="rollout_by_prompt")),
    ]
