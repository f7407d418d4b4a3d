"""Ray on this machine alone, with the repository's packages in its workers."""

import os
from collections.abc import Iterator

import pytest
import ray

from tests.trainer_core.update.conftest import policy_dir
from tests.worker.engine.conftest import tied_policy

__all__ = ["policy_dir", "tied_policy"]


@pytest.fixture(scope="package")
def cluster() -> Iterator[None]:
    """A Ray instance of its own."""
    os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join([os.getcwd(), os.environ.get("PYTHONPATH", "")])}},
    )
    yield
    ray.shutdown()
