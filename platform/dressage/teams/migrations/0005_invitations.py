"""Invitations, and which accounts belong to the owner of their address."""

from typing import Any

import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import dressage.common.models
from django.db import migrations, models


def trust_own_passwords(apps: Any, schema_editor: Any) -> None:
    """Take the accounts of before for their owners', where they have chosen a password of their own."""
    apps.get_model("teams", "User").objects.filter(password_is_temporary=False).update(address_proven=True)


class Migration(migrations.Migration):

    dependencies = [
        ('teams', '0004_sessions_and_account_events'),
    ]

    operations = [
        migrations.AddField(
            model_name='user',
            name='address_proven',
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', dressage.common.models.PrefixedIdField(serialize=False)),
                ('created_at', models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False)),
                ('email', models.EmailField(max_length=254)),
                ('role', models.CharField(choices=[('viewer', 'Viewer: reads everything'), ('editor', 'Editor: creates datasets, rewards, policies and draft runs'), ('operator', 'Operator: starts, stops and steers runs'), ('admin', 'Admin: manages members, tokens and reads the audit log')], max_length=16)),
                ('sha256', models.CharField(max_length=64, unique=True)),
                ('mailed', models.BooleanField()),
                ('created_by', models.CharField(max_length=300)),
                ('created_by_id', models.CharField(max_length=120)),
                ('expires_at', models.DateTimeField()),
                ('accepted_at', models.DateTimeField(null=True)),
                ('withdrawn_at', models.DateTimeField(null=True)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='teams.team')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('accepted_at', None), ('withdrawn_at', None)), fields=['team', 'created_at', 'id'], name='invitation_page')],
                'constraints': [models.CheckConstraint(condition=models.Q(('email', django.db.models.functions.text.Lower('email'))), name='invited_email_is_lower_case'), models.UniqueConstraint(condition=models.Q(('accepted_at', None), ('withdrawn_at', None)), fields=('team', 'email'), name='one_open_invitation_per_address')],
            },
        ),
        migrations.RunPython(trust_own_passwords, migrations.RunPython.noop, elidable=False),
    ]
