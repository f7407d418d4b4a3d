from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rewards", "0004_pages")]
    operations = [
        migrations.AddField(
            "benchjob", name, models.CharField(max_length=63, blank=True, default="", db_default="")
        )
        for name in ("cluster", "placed_on")
    ]
