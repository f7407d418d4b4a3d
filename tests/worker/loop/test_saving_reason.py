"""The words in which a checkpoint that could not be written is told: one line, whatever was raised, with its type where
the words alone would not tell.
"""

import errno
import pickle

import pytest
import torch
from ray.exceptions import ActorDiedError, RayTaskError
from safetensors import SafetensorError
from torch import distributed

from trainer_core.update.saving.integrity import CheckpointError
from worker.loop.saving import reason


class Foreign(BaseException):
    """An exception of a library that has a family of its own."""


class Silent(Exception):
    """An exception that says nothing."""

    def __str__(self) -> str:
        return ""


def in_a_rank(cause: Exception) -> RayTaskError:
    """The cause as it comes back from a learner rank."""
    return RayTaskError("save", "Traceback: a rank of the learner\n  many lines", cause).as_instanceof_cause()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/runs/7"), "[Errno 28] No space left on device: '/runs/7'"),
        (OSError(), "OSError"),
        (CheckpointError("model.safetensors contains values that are not finite"),) * 2,
        (SafetensorError("header too large"), "SafetensorError: header too large"),
        (RuntimeError("CUDA error: out of memory\nCUDA kernel errors might be reported later"),
         "RuntimeError: CUDA error: out of memory"),
        (torch.OutOfMemoryError("Tried to allocate 2 GiB"), "OutOfMemoryError: Tried to allocate 2 GiB"),
        (distributed.DistBackendError("NCCL timed out"), "DistBackendError: NCCL timed out"),
        (pickle.PicklingError("can't pickle"), "PicklingError: can't pickle"),
        (MemoryError(), "MemoryError"),
        (KeyError("step"), "KeyError: 'step'"),
        (UnicodeEncodeError("ascii", "é", 0, 1, "ordinal not in range(128)"),
         r"UnicodeEncodeError: 'ascii' codec can't encode character '\xe9' in position 0: ordinal not in range(128)"),
        (Foreign("from elsewhere"), "Foreign: from elsewhere"),
        (Silent(), "Silent"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)  # fmt: skip
def test_a_reason_is_one_line(error: BaseException, words: object) -> None:
    assert reason(error) == str(words)
    assert len(reason(error).splitlines()) == 1


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "[Errno 122] Disk quota exceeded"),
        (CheckpointError("the folder is gone"), "the folder is gone"),
        (torch.OutOfMemoryError("Tried to allocate 2 GiB"), "OutOfMemoryError: Tried to allocate 2 GiB"),
        (SafetensorError("header too large"), "SafetensorError: header too large"),
        (Silent(), "Silent"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_a_rank_has_raised_is_told_and_not_its_traceback(cause: Exception, words: str) -> None:
    assert reason(in_a_rank(cause)) == words


def test_a_rank_that_is_gone_is_told_by_ray() -> None:
    assert reason(ActorDiedError()).startswith("ActorDiedError: ")
