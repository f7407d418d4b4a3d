import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('policies', '0004_imports'),
        ('teams', '0012_letter_fault'),
        ('serving', '0001_servings'),
    ]

    operations = [
        migrations.AddField(
            model_name='serving',
            name='key_sha256',
            field=models.CharField(blank=True, db_default='', default='', max_length=64),
        ),
        migrations.AddField(
            model_name='serving',
            name='policy',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='policies.policy'),
        ),
        migrations.AddField(
            model_name='serving',
            name='progress',
            field=models.JSONField(null=True),
        ),
        migrations.AddIndex(
            model_name='serving',
            index=models.Index(condition=models.Q(('policy__isnull', False)), fields=['team', 'created_at', 'id'], name='serving_page'),
        ),
    ]
