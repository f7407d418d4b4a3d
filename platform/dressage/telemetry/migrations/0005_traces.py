"""Files with the tokens of kept rollouts, and where each rollout's are."""

import django.db.models.deletion
from django.db import migrations, models

from dressage.common.index_operations import index_concurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("runs", "0012_gpu_spans"),
        ("telemetry", "0004_outcomes"),
    ]

    operations = [
        migrations.CreateModel(
            name="TraceFile",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("attempt", models.SmallIntegerField()),
                ("step", models.IntegerField()),
                ("number", models.SmallIntegerField()),
                ("stays", models.BooleanField()),
                ("sha256", models.CharField(max_length=64)),
                ("bytes", models.BigIntegerField()),
                ("samples", models.IntegerField()),
                ("tokens", models.BigIntegerField()),
                ("groups", models.IntegerField()),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="trace_files",
                        to="runs.run",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "step", "attempt", "number"), name="one_trace_file_per_number"
                    )
                ]
            },
        ),
        migrations.AddField("rollout", "right", models.BooleanField(null=True)),
        migrations.AddField("rollout", "worst_gap", models.FloatField(null=True)),
        migrations.AddField("rollout", "trace_row", models.IntegerField(null=True)),
        migrations.AddField("rollout", "indexed", models.BooleanField(default=False, db_default=False)),
        migrations.AddField(
            "rollout",
            "trace",
            models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="rollouts",
                to="telemetry.tracefile",
            ),
        ),
        *index_concurrently(
            "rollout",
            models.Index(fields=["trace"], name="rollout_by_trace", condition=models.Q(trace__isnull=False)),
        ),
    ]
