"""Every Triton path without a GPU: ``interpreted/`` under Triton's interpreter, ``compiled/`` with its compiler.

Each in a process of its own, because Triton decides at its import whether kernels are compiled or interpreted. Triton
is locked among the requirements: where it is missing, these tests fail.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ABOUT = ("kernels", "requirements")


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param("interpreted", marks=pytest.mark.expensive(40, "Triton's interpreter", about=ABOUT)),
        pytest.param("compiled", marks=pytest.mark.expensive(25, "compiles every kernel twice", about=ABOUT)),
    ],
)
def test_without_a_gpu(mode: str) -> None:
    checks = FOLDER / mode
    options = [
        *("-c", os.devnull, "--rootdir", str(FOLDER.parents[1]), "--confcutdir", str(checks)),
        *("-o", "python_files=check_*.py", "--import-mode=importlib", "--timeout=0"),
        *("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:django", "--no-header", "-q"),
    ]
    environment = {**os.environ, "TRITON_INTERPRET": str(int(mode == "interpreted"))}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", str(checks), *options], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
