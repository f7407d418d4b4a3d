"""Every Triton path without a GPU: ``interpreted/`` under Triton's interpreter, ``compiled/`` with its compiler.

Each in a process of its own, because Triton decides at its import whether kernels are compiled or interpreted. Triton
is locked among the requirements: where it is missing, these tests fail.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKS = sorted(Path(__file__).parent.glob("*/check_*.py"))


@pytest.mark.parametrize("path", CHECKS, ids=lambda path: f"{path.parent.name}-{path.stem.removeprefix('check_')}")
def test_without_a_gpu(path: Path) -> None:
    options = ["-o", "python_files=check_*.py", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header"]
    environment = {**os.environ, "TRITON_INTERPRET": str(int(path.parent.name == "interpreted"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(path), *options], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
