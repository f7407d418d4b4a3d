from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            name="Cluster",
            fields=[
                ("name", models.CharField(max_length=63, primary_key=True, serialize=False)),
                ("places", models.PositiveIntegerField(null=True)),
                ("most_cpus", models.FloatField(null=True)),
                ("most_gpus", models.FloatField(null=True)),
                ("report", models.JSONField(null=True)),
                ("reported_at", models.DateTimeField(null=True)),
                ("fault", models.CharField(blank=True, max_length=500)),
                ("asked_at", models.DateTimeField(null=True)),
                ("answered_at", models.DateTimeField(null=True)),
                ("demand", models.JSONField(default=list)),
            ],
        )
    ]
