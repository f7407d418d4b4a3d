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
    from ray._private.node import Node

    path = os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
        # Ray lends its workers little priority; on a busy machine the tests would wait for them beyond their patience.
        patch.setenv("RAY_worker_niceness", "0")
        # Every actor has an environment of its own, so that none would use a process that is started beforehand.
        patch.setenv("RAY_prestart_worker_first_driver", "0")
        # Nothing grows this cluster, and nobody reads what its workers print.
        patch.setattr(Node, "start_monitor", lambda _: None)
        patch.setattr(Node, "start_log_monitor", lambda _: None)
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
