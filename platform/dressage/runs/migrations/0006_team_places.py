import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("runs", "0005_pages"), ("teams", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="TeamPlaces",
            fields=[
                (
                    "team",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="teams.team",
                    ),
                ),
                ("places", models.PositiveIntegerField(null=True)),
                ("served_at", models.DateTimeField(null=True)),
            ],
        ),
    ]
