"""The web tier must not load what only the cluster needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import django
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns
import sys
heavy = {"torch", "vllm", "ray", "deepspeed", "transformers"} & set(sys.modules)
assert not heavy, heavy
"""


@pytest.mark.expensive(6, "walks over all operations", about=("platform", "trainer_core"))
def test_the_routes_load_without_torch() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, cwd=ROOT, env=environment)
