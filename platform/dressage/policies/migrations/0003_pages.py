"""Indexes by which the lists are paged."""

from django.db import migrations, models

from dressage.common.index_operations import index_concurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("policies", "0002_own_runs_only"),
    ]

    operations = [
        *index_concurrently("policy", models.Index(fields=["team", "created_at", "id"], name="policy_page")),
    ]
