from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0013_findings")]
    operations = [migrations.AddField("control", "ramp_steps", models.PositiveIntegerField(null=True))]
