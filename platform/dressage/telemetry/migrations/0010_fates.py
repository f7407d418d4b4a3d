"""The fate of each group, with its outcome."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("telemetry", "0009_turns")]

    operations = [
        migrations.AddField("rowoutcome", "ordinal", models.IntegerField(null=True)),
        migrations.AddField("rowoutcome", "fate", models.CharField(max_length=10, null=True)),
        migrations.AddField("rowoutcome", "reason", models.CharField(max_length=120, null=True)),
        # It does all that ``outcome_by_step`` does, which a later release may drop.
        migrations.AddIndex(
            "rowoutcome", models.Index(fields=["run", "-step", "row", "id"], name="outcome_by_page")
        ),
        migrations.AddIndex(
            "rowoutcome",
            models.Index(
                fields=["run", "fate", "-step", "row", "id"],
                name="outcome_left_out",
                condition=models.Q(fate__in=["rejected", "dropped"]),
            ),
        ),
    ]
