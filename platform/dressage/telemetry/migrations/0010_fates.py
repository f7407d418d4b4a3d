"""The fate of each group, with its outcome."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("telemetry", "0009_turns")]

    operations = [
        migrations.AddField("rowoutcome", "ordinal", models.IntegerField(null=True)),
        migrations.AddField("rowoutcome", "fate", models.CharField(max_length=10, null=True)),
        migrations.AddField("rowoutcome", "reason", models.CharField(max_length=120, null=True)),
    ]
