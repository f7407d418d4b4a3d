"""The release of before on the tables of this one, as it is for minutes of every upgrade without down time."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from dressage.config import ROOT
from dressage.embedded.pytest_plugin import SERVERS
from tests.platform.upgrade.earlier import faults

BEFORE_THE_RULE = {"teams.0005_invitations": 1, "teams.0006_token_owners": 1, "telemetry.0002_rollout_reward": 1}
"""Migrations of releases that were upgraded with a stop, and how many faults each has. No other is excused."""
SLICE = (
    "tests/platform/runs/test_lifecycle.py",
    "tests/platform/runs/test_link.py",
    "tests/platform/teams/test_tokens.py",
)
"""Tests of the release of before that read and write most tables."""
SUBJECTS = (
    "manage.py",
    "platform/dressage/database.py",
    "platform/dressage/embedded",
    "platform/dressage/settings.py",
    "requirements/runtime.lock",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "platform" / "dressage").rglob("migrations")),
)
"""The tables come of the migrations alone, and how they are made of the rest."""
NEW_TABLES = """
import os
import re
import subprocess
import sys

import psycopg


def pytest_sessionstart(session):
    # The servers of the tests run by now. pytest-django finds this database, and as it is told, keeps it.
    server = os.environ["DATABASE_URL"]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE test_dressage")
    url = server.replace("/dressage?", "/test_dressage?")
    environment = {{**os.environ, "DATABASE_URL": url, "PYTHONPATH": "{new}/platform:{new}"}}
    migrate = [sys.executable, "{new}/manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, env=environment, check=True, cwd="{new}")
    with psycopg.connect(url) as connection:
        count = connection.execute("SELECT count(*) FROM django_migrations").fetchone()[0]
    print("tables made by", count, "migrations of the new release")
"""


def test_no_migration_takes_away_what_the_release_of_before_uses() -> None:
    loader = MigrationLoader(None)
    state, found = ProjectState(), {}
    plan = loader.graph._generate_plan(sorted(loader.graph.leaf_nodes()), at_end=True)
    for app, name in plan:
        migration = loader.get_migration(app, name)
        told = list(faults(migration, state))
        if told and migration.__module__.startswith("dressage."):
            found[f"{app}.{name}"] = told
    assert {name: len(told) for name, told in found.items()} == BEFORE_THE_RULE, found


def judged(*changes: Operation, no_code_uses: str = "") -> list[str]:
    """The faults of a migration with these operations on a table of an app."""

    class First(migrations.Migration):
        operations: ClassVar = [
            migrations.CreateModel(
                "Run",
                [
                    ("id", models.BigAutoField(primary_key=True)),
                    ("name", models.CharField(max_length=20)),
                    ("note", models.TextField(null=True)),
                    ("step", models.IntegerField(db_column="at_step", default=0)),
                    ("tags", ArrayField(models.TextField(), default=list)),
                ],
            )
        ]

    state = ProjectState()
    assert list(faults(First("0001", "app"), state)) == []
    second = type("Second", (migrations.Migration,), {"operations": list(changes), "no_code_uses": no_code_uses})
    return list(faults(second("0002", "app"), state))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (migrations.RemoveField("Run", "note"), "drops Run.note"),
        (migrations.RenameField("Run", "name", "title"), "renames Run.name"),
        (migrations.RenameModel("Run", "Job"), "renames the table of Run"),
        (migrations.AlterModelTable("Run", "jobs"), "renames the table of Run"),
        (migrations.DeleteModel("Run"), "drops the table of Run"),
        (migrations.AddField("Run", "seed", models.IntegerField(default=0)), "adds Run.seed, which must be given"),
        (migrations.AlterField("Run", "note", models.TextField(default="")), "Run.note may no longer be null"),
        (migrations.AlterField("Run", "name", models.CharField(max_length=10)), "Run.name becomes varchar(10)"),
        (migrations.AlterField("Run", "name", models.IntegerField()), "Run.name becomes integer, which was"),
        (
            migrations.AlterField("Run", "name", models.CharField(max_length=20, unique=True)),
            "Run.name becomes unique",
        ),
        (
            migrations.AddConstraint("Run", models.UniqueConstraint(fields=["name"], name="one_name")),
            "adds the constraint one_name on Run",
        ),
        (migrations.AlterUniqueTogether("Run", {("name", "step")}), "changes what is unique in Run"),
        (migrations.RunSQL("ALTER TABLE app_run DROP COLUMN note"), "its SQL has 'DROP COLUMN'"),
        (
            migrations.SeparateDatabaseAndState([migrations.RunSQL("alter table app_run rename note to n")]),
            "its SQL has 'rename'",
        ),
    ],
)  # fmt: skip
def test_what_takes_away_is_found(change: Operation, told: str) -> None:
    [fault] = judged(change)
    assert fault.startswith(f"app.0002: {told}")
    assert judged(change, no_code_uses="No release since 0.2 reads it.") == []


@pytest.mark.parametrize(
    "change",
    [
        migrations.AddField("Run", "seed", models.IntegerField(null=True)),
        migrations.AddField("Run", "seed", models.IntegerField(db_default=0)),
        migrations.AlterField("Run", "name", models.CharField(max_length=40)),
        migrations.AlterField("Run", "name", models.TextField()),
        migrations.AlterField("Run", "name", models.CharField(max_length=20, null=True)),
        migrations.RenameField("Run", "step", "at"),
        migrations.SeparateDatabaseAndState([], [migrations.RemoveField("Run", "note")]),
        migrations.CreateModel("Job", [("id", models.BigAutoField(primary_key=True))]),
        migrations.AddIndex("Run", models.Index(fields=["name"], name="by_name")),
        migrations.RunPython(migrations.RunPython.noop),
    ],
)
def test_what_adds_and_widens_is_no_fault(change: Operation) -> None:
    assert judged(change) == []


def git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True).stdout


def release_before() -> str:
    """The last release, or where there is none the state before the newest change to the tables."""
    if tags := git("tag", "--list", "v*", "--sort=-version:refname", "--merged", "HEAD").decode().split():
        return tags[0]
    changes = git("log", "--format=%H", "--diff-filter=AM", "--", ":(glob)platform/dressage/*/migrations/0*.py")
    if not (newest := changes.decode().split()[:1]):
        raise LookupError("no change to the tables is recorded")
    return git("rev-parse", "--verify", f"{newest[0]}^").decode().strip()


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code of the release of before."""
    try:
        packed = git("archive", release_before())
    except (subprocess.CalledProcessError, FileNotFoundError, LookupError) as error:
        pytest.skip(f"this checkout does not know the release of before (a shallow clone has no history): {error}")
    folder = tmp_path_factory.mktemp("earlier")
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=packed, check=True)
    return folder


@pytest.mark.expensive(60, "runs a part of the suite of the release of before", about=SUBJECTS)
def test_the_code_of_before_passes_its_own_tests_on_the_new_tables(earlier: Path, tmp_path: Path) -> None:
    """Its own test-suite says what it needs: the database that it tests on is made by this release's migrations."""
    (tmp_path / "new_tables.py").write_text(NEW_TABLES.format(new=ROOT))
    path = [str(tmp_path), str(earlier / "platform"), str(earlier)]
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST", "DATABASE_URL", "REDIS_URL", SERVERS))
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "new_tables", "--reuse-db"]
    done = subprocess.run(
        [*command, *(name for name in SLICE if (earlier / name).is_file())],
        cwd=earlier,
        env={**kept, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    made = re.search(r"tables made by (\d+) migrations of the new release", done.stdout)
    assert made and int(made[1]) == len(MigrationLoader(None).disk_migrations), done.stdout[-2000:]
