"""An installation to examine: the test's own database and Redis, and all else as on a healthy machine."""

import dataclasses
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from dressage.config import Config
from dressage.doctor.place import Place
from tests.support.installation import free_port

SOUND = (sys.executable, "-c", "")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Place]]:
    """``place(jail=…, environment={…}, DRESSAGE_URL=…)``: capitals are settings, the rest are parts of the place."""
    for field in Config.model_fields.values():
        if field.alias not in ("DATABASE_URL", "REDIS_URL"):
            monkeypatch.delenv(str(field.alias), raising=False)

    def make(environment: dict[str, str] | None = None, **given: Any) -> Place:
        settings = {name: value for name, value in given.items() if name.isupper()}
        usual = {"DRESSAGE_HOME": str(tmp_path / "home"), "DRESSAGE_PORT": str(free_port())}
        for name, value in {**usual, **settings}.items():
            monkeypatch.setenv(name, value)
        sizes = {"disk_bytes": 1, "free_share": 0.0, "shared_bytes": 1, "descriptors": 1, "patience_s": 0.5}
        parts = {name: value for name, value in given.items() if not name.isupper()}
        surroundings = {"PATH": "", **(environment or {})}
        made = Place(Config(), environment=surroundings, jail=SOUND, **sizes)  # type: ignore[arg-type]
        return dataclasses.replace(made, **parts)

    yield make


@pytest.fixture
def tested_database(db: None) -> str:
    """URL of the database that the test writes to."""
    return os.environ["DATABASE_URL"].replace("/dressage?", f"/{connection.settings_dict['NAME']}?")
