"""Shared by the worker's tests: one Ray on this machine alone, with the repository's packages in its workers."""

import os
from collections.abc import Iterator

import pytest

# Before anything imports Ray, which reads it then: as in an installation, nothing listens beyond this machine.
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"

CPUS = 4
"""What this Ray believes to have."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """One Ray for all tests of the worker."""
    import ray

    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    # Ray lends its workers little priority; on a busy machine the tests would wait for them beyond their patience.
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112
    path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    ray.init(
        "local",
        num_cpus=CPUS,
        namespace="dressage",
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": path}},
    )
    yield
    ray.shutdown()
