from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('runs', '0015_checkpoint_export'),
    ]

    operations = [
        migrations.AddField(
            model_name='checkpoint',
            name='damage',
            field=models.CharField(blank=True, db_default='', default='', max_length=500),
        ),
    ]
