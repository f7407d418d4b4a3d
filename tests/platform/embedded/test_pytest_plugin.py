"""The servers of the suite: one of each, and databases of its own for each process."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.core.cache import cache
from django.db import connection

from dressage.config import ROOT
from dressage.embedded.pytest_plugin import SERVERS, TEMPLATE

NESTED_TEST = """
import os
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection

from dressage.teams.models import Team


@pytest.mark.django_db
def test_here():
    assert not Team.objects.exists()
    cache.clear()
    facts = [connection.settings_dict["NAME"], os.environ["DATABASE_URL"], os.environ["REDIS_URL"]]
    Path(__file__).with_name("facts").write_text(" ".join(facts))
"""


@pytest.mark.expensive(10, "starts a pytest run that sets up Django", about=("platform/dressage/embedded",))
@pytest.mark.django_db(transaction=True)
def test_a_run_that_a_test_starts_uses_the_servers_and_databases_of_its_own(tmp_path: Path) -> None:
    cache.set("kept", 1)
    (tmp_path / "test_nested.py").write_text(NESTED_TEST)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", str(ROOT / "pyproject.toml")]
    done = subprocess.run([*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    name, database_url, redis_url = (tmp_path / "facts").read_text().split()
    assert name.startswith("test_dressage_") and name != connection.settings_dict["NAME"]
    assert database_url == os.environ["DATABASE_URL"]
    assert redis_url != os.environ["REDIS_URL"] and redis_url.split("?")[0] == os.environ["REDIS_URL"].split("?")[0]
    assert f"{os.environ['DATABASE_URL']} {os.environ['REDIS_URL']}" == os.environ[SERVERS]
    assert cache.get("kept") == 1
    with psycopg.connect(os.environ["DATABASE_URL"]) as server:
        names = [name for (name,) in server.execute("SELECT datname FROM pg_database")]
    assert TEMPLATE in names and name not in names
