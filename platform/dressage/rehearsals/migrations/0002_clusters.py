from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rehearsals", "0001_initial")]
    operations = [
        migrations.AddField(
            "rehearsal", name, models.CharField(max_length=63, blank=True, default="", db_default="")
        )
        for name in ("cluster", "placed_on")
    ]
