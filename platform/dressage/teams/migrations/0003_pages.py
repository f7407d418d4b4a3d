"""Indexes by which the lists are paged."""

from django.db import migrations, models

from dressage.common.index_operations import index_concurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("teams", "0002_audit_append_only"),
    ]

    operations = [
        *index_concurrently(
            "apitoken",
            models.Index(fields=["team", "created_at", "id"], condition=models.Q(revoked_at=None), name="token_page"),
        ),
        *index_concurrently("membership", models.Index(fields=["team", "created_at", "id"], name="membership_page")),
    ]
