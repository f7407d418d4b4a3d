from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("datasets", "0010_imports")]

    operations = [
        migrations.AddField(
            model_name="datasetcard",
            name="keep_days",
            field=models.PositiveIntegerField(null=True),
        ),
    ]
