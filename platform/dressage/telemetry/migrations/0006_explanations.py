"""The reasons of graders, beside each rollout."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("telemetry", "0005_traces")]

    operations = [migrations.AddField("rollout", "explanation", models.JSONField(null=True))]
