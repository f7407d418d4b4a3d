"""The product's files in a folder of their own, for tests of what a process does by default in its checkout."""

import os
import shutil
from pathlib import Path

from dressage.config import ROOT, Config

VARIABLES = {str(field.alias) for field in Config.model_fields.values()}
USUAL = {"HOST": "10.255.255.1", "PORT": "1", "DEBUG": "1", "URL": "https://elsewhere.test", "SECRET_KEY": "not ours"}
"""Variables that many shells set, with values that would show if they were read."""


def copy_checkout(folder: Path) -> Path:
    """Copy what defaults are derived from, and link the rest; ``.dressage`` in ``folder`` is then the data folder."""
    shutil.copytree(ROOT / "platform", folder / "platform", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "manage.py", folder)
    for tree in ("trainer_core", "worker", "kernels", "demo"):
        (folder / tree).symlink_to(ROOT / tree)
    return folder


def usual_environment(home: Path, **more: str) -> dict[str, str]:
    """The variables of a usual shell. Both servers are named, at addresses where none is, so that none is started."""
    kept = {key: value for key, value in os.environ.items() if key not in VARIABLES | {"PYTHONPATH"}}
    servers = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none", "REDIS_URL": "redis://127.0.0.1:9"}
    return {**kept, **USUAL, **servers, "HOME": str(home), **more}
