from django.db import migrations, models

REASONS = ["schedule", "requested", "before_control", "final", "release"]


class Migration(migrations.Migration):

    dependencies = [("runs", "0007_suspended_runs")]

    operations = [
        migrations.AddField("attempt", "releasing_at", models.DateTimeField(null=True)),
        migrations.AlterField(
            "checkpoint", "reason", models.CharField(choices=[(reason, reason) for reason in REASONS], max_length=20)
        ),
    ]
