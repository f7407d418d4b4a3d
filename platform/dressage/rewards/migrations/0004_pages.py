"""Indexes by which the lists are paged."""

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations, models

from dressage.common.index_operations import index_concurrently


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("rewards", "0003_seal_keys_anew"),
    ]

    operations = [
        *index_concurrently(
            "benchjob",
            models.Index(fields=["team", "created_at", "id"], condition=models.Q(hidden=False), name="bench_page"),
        ),
        RemoveIndexConcurrently("benchjob", "bench_team_created"),
        *index_concurrently("judgeendpoint", models.Index(fields=["team", "created_at", "id"], name="judge_page")),
        *index_concurrently("reward", models.Index(fields=["team", "created_at", "id"], name="reward_page")),
        *index_concurrently("rubricproposal", models.Index(fields=["reward", "created_at", "id"], name="proposal_page")),
    ]
