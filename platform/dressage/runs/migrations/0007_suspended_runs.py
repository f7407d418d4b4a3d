from typing import Any

from django.db import migrations, models
from django.db.models.functions import Now

STATES = [
    ("draft", "Draft"),
    ("queued", "Queued"),
    ("starting", "Starting"),
    ("running", "Running"),
    ("paused", "Paused"),
    ("suspended", "Suspended: paused, its place given back, its checkpoint safe"),
    ("succeeded", "Succeeded"),
    ("failed", "Failed"),
    ("cancelled", "Cancelled"),
]


def begin_to_count(apps: Any, _: Any) -> None:
    """The clock of runs that stand paused begins now: nobody has told them before that they lose their place."""
    apps.get_model("runs", "Run").objects.filter(state="paused").update(paused_at=Now())


class Migration(migrations.Migration):

    dependencies = [("runs", "0006_team_places")]

    operations = [
        migrations.AddField("run", "paused_at", models.DateTimeField(null=True)),
        migrations.AddField("run", "release_asked_at", models.DateTimeField(null=True)),
        migrations.AddField("run", "suspended_at", models.DateTimeField(null=True)),
        migrations.AlterField(
            "run", "state", models.CharField(choices=STATES, default="draft", max_length=16)
        ),
        migrations.RunPython(begin_to_count, migrations.RunPython.noop),
    ]
