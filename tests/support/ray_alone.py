"""A Ray of a command's own: on this machine alone, with the repository's packages in its workers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.installation import ROOT


@contextmanager
def ray_alone(cpus: int = 4) -> Iterator[None]:
    """Use before anything has imported Ray, which reads its switches then."""
    os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    import ray

    ray.init(
        "local",
        num_cpus=cpus,
        namespace="dressage",
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
    )
    try:
        yield
    finally:
        ray.shutdown()
