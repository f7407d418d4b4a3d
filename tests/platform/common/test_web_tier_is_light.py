"""The web tier must not load what only the cluster needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.about import PLATFORM

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


@pytest.mark.expensive(6, "imports the web tier in a process of its own", about=PLATFORM)
def test_the_routes_load_without_torch() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, cwd=ROOT, env=environment)
