from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("runs", "0003_control_change_set")]

    operations = [
        migrations.AddField(
            model_name="attempt",
            name="keys_given_at",
            field=models.DateTimeField(null=True),
        ),
    ]
