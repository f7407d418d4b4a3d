"""What the points of each 64 steps come to."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("runs", "0014_control_ramps"),
        ("telemetry", "0007_outcomes_by_step"),
    ]

    operations = [
        migrations.CreateModel(
            name="RolledUp",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "run_id", "attempt", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("attempt", models.SmallIntegerField()),
                ("until", models.IntegerField()),
                (
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="runs.run",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Rollup",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "series_id", "bucket", "attempt", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("bucket", models.IntegerField()),
                ("attempt", models.SmallIntegerField()),
                ("last", models.IntegerField()),
                ("low", models.FloatField(null=True)),
                ("high", models.FloatField(null=True)),
                ("total", models.FloatField(null=True)),
                ("finite", models.SmallIntegerField()),
                ("points", models.SmallIntegerField()),
                (
                    "series",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="telemetry.series",
                    ),
                ),
            ],
        ),
    ]
