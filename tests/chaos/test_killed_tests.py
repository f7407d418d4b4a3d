"""What a killed test run has started does not outlive it."""

import subprocess
import sys

import psutil
import pytest

from tests.support.installation import ROOT, wait_until

pytestmark = pytest.mark.chaos
PROGRAM = """
import subprocess, time
from tests.support.installation import end_with_parent
print(subprocess.Popen(["sleep", "600"], start_new_session=True, preexec_fn=end_with_parent).pid, flush=True)
time.sleep(600)
"""


def test_a_killed_test_run_takes_its_installation_with_it() -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=ROOT, stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout is not None
        started = psutil.Process(int(tests.stdout.readline()))
        assert started.is_running()
        tests.kill()
    wait_until(lambda: not started.is_running() or started.status() == psutil.STATUS_ZOMBIE, 30)
