"""Indexes by which the lists are paged."""

from django.db import migrations, models

from dressage.common.index_operations import index_concurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("datasets", "0001_initial"),
    ]

    operations = [
        *index_concurrently("dataset", models.Index(fields=["team", "created_at", "id"], name="dataset_page")),
    ]
