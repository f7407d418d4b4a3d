"""The index by which the newest outcomes of a run are found."""

from django.db import migrations, models

from dressage.common.index_operations import index_concurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("telemetry", "0006_explanations"),
    ]

    operations = [
        *index_concurrently("rowoutcome", models.Index(fields=["run", "-step", "row"], name="outcome_by_step")),
    ]
