"""Policies of the learner's tests."""

from tests.trainer_core.update.conftest import policy_dir
from tests.worker.engine.conftest import tied_policy

__all__ = ["policy_dir", "tied_policy"]
