from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0009_control_tokens")]
    operations = [migrations.AddField("run", "noise_asked_at", models.PositiveIntegerField(null=True))]
