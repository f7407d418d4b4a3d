from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rewards", "0005_bench_clusters")]
    operations = [migrations.AddField("rewardversion", "judges", models.JSONField(null=True))]
