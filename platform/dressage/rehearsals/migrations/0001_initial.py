import django.db.models.deletion
import django.utils.timezone
import dressage.common.models
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('teams', '0012_letter_fault'),
    ]

    operations = [
        migrations.CreateModel(
            name='Rehearsal',
            fields=[
                ('id', dressage.common.models.PrefixedIdField(serialize=False)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False)),
                ('state', models.CharField(choices=[('queued', 'Queued: it waits for its place, or for a worker'), ('running', 'Running: a worker has taken it'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled by a person')], default='queued', max_length=16)),
                ('error', models.CharField(max_length=2000, null=True)),
                ('spec', models.JSONField()),
                ('prompts', models.PositiveSmallIntegerField()),
                ('samples', models.PositiveSmallIntegerField()),
                ('progress', models.JSONField(null=True)),
                ('report', models.JSONField(null=True)),
                ('step_time', models.JSONField(null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('token_sha256', models.CharField(max_length=64, unique=True)),
                ('placed_at', models.DateTimeField(null=True)),
                ('rung_at', models.DateTimeField(null=True)),
                ('lease_expires_at', models.DateTimeField(null=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('created_by', models.CharField(max_length=300)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(fields=['state', 'placed_at'], name='rehearsal_state_place'), models.Index(fields=['team', 'created_at', 'id'], name='rehearsal_page')],
            },
        ),
    ]
