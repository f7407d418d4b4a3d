"""Owners and scopes of API tokens, and service accounts."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import dressage.common.models

_ROLES = [
    ("viewer", "Viewer: reads everything"),
    ("editor", "Editor: creates datasets, rewards, policies and draft runs"),
    ("operator", "Operator: starts, stops and steers runs"),
    ("admin", "Admin: manages members, tokens and reads the audit log"),
]


class Migration(migrations.Migration):
    dependencies = [("teams", "0005_invitations")]

    operations = [
        migrations.CreateModel(
            name="ServiceAccount",
            fields=[
                ("id", dressage.common.models.PrefixedIdField(serialize=False)),
                ("created_at", models.DateTimeField(db_index=True, default=django.utils.timezone.now, editable=False)),
                ("name", models.CharField(max_length=120)),
                ("role", models.CharField(choices=_ROLES, max_length=16)),
                ("created_by", models.CharField(max_length=300)),
                ("disabled_at", models.DateTimeField(null=True)),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="teams.team"
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="serviceaccount",
            constraint=models.UniqueConstraint(fields=["team", "name"], name="one_service_account_per_name"),
        ),
        migrations.AddIndex(
            model_name="serviceaccount",
            index=models.Index(fields=["team", "created_at", "id"], name="service_account_page"),
        ),
        migrations.AddField("apitoken", "last_used_address", models.GenericIPAddressField(null=True)),
        migrations.AddField("apitoken", "scopes", models.JSONField(null=True)),
        migrations.AddField(
            "apitoken",
            "user",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            "apitoken",
            "service_account",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tokens",
                to="teams.serviceaccount",
            ),
        ),
        migrations.AddConstraint(
            model_name="apitoken",
            constraint=models.CheckConstraint(
                condition=models.Q(("user", None), ("service_account", None), _connector="OR"),
                name="token_has_one_owner_at_most",
            ),
        ),
    ]
