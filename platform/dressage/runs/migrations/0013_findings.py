from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0012_gpu_spans")]
    operations = [migrations.AddField("run", "findings", models.JSONField(null=True))]
