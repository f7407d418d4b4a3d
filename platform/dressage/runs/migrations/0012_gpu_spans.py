import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0011_clusters")]
    operations = [
        migrations.AddField("attempt", "gpus_since", models.DateTimeField(null=True)),
        migrations.CreateModel(
            name="GpuSpan",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("gpus", models.FloatField()),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="gpu_spans", to="runs.attempt"
                    ),
                ),
            ],
        ),
    ]
