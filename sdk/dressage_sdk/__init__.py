"""Python client of a Dressage platform: runs as typed objects. It needs pydantic and httpx, and nothing else.

``RunSpec`` is loaded at its first use: a program that only reads runs starts faster without it.
"""

from typing import TYPE_CHECKING, Any

from dressage_sdk.client import Client
from dressage_sdk.errors import DressageError, FieldError
from dressage_sdk.models import Run, RunDetails
from dressage_sdk.version import VERSION as __version__

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

__all__ = ["Client", "DressageError", "FieldError", "Run", "RunDetails", "RunSpec", "__version__"]


def __getattr__(name: str) -> Any:
    if name != "RunSpec":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from trainer_core.spec.run import RunSpec

    return RunSpec
