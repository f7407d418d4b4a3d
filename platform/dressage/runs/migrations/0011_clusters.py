from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0010_noise_asked_at"), ("teams", "__first__")]
    operations = [
        migrations.AddField(
            "run", "cluster", models.CharField(max_length=63, blank=True, default="", db_default="")
        ),
        migrations.AddField(
            "attempt", "cluster", models.CharField(max_length=63, blank=True, default="", db_default="")
        ),
        migrations.AddField("attempt", "gpus", models.FloatField(default=0.0, db_default=0.0)),
        migrations.CreateModel(
            name="TeamGpuHours",
            fields=[
                (
                    "team",
                    models.OneToOneField(
                        on_delete=models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="teams.team",
                    ),
                ),
                ("limit", models.FloatField(null=True)),
                ("warned_month", models.DateField(null=True)),
                ("warned_percent", models.PositiveSmallIntegerField(default=0)),
            ],
        ),
    ]
