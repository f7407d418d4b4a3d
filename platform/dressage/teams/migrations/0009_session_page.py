"""Index by which the list of a person's sessions is paged."""

from django.db import migrations, models

from dressage.common.index_operations import index_concurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("teams", "0008_second_factors"),
    ]

    operations = [
        *index_concurrently(
            "usersession", models.Index(fields=["user", "created_at", "id"], name="session_page")
        ),
    ]
