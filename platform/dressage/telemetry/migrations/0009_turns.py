"""The turns of an episode, with each rollout."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("telemetry", "0008_rollups")]

    operations = [migrations.AddField("rollout", "turns", models.JSONField(null=True))]
