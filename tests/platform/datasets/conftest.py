"""A folder of its own for the datasets of each test."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def dataset_root(settings: Any, tmp_path: Path) -> Path:
    """The folder."""
    root = tmp_path / "datasets"
    settings.DATASET_ROOT = root
    return root
