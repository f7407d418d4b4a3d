"""Indexes by which the lists are paged."""

from django.db import migrations, models

from dressage.common.index_operations import index_concurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("runs", "0004_attempt_keys_given_at"),
    ]

    operations = [
        *index_concurrently("checkpoint", models.Index(fields=["run", "step", "attempt", "id"], name="checkpoint_page")),
        *index_concurrently("run", models.Index(fields=["team", "created_at", "id"], name="run_page")),
    ]
