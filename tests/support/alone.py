"""A function in a process of its own, for what decides for a whole process, as DeepSpeed does about the device."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def alone(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Result of a module's function in a fresh process; what it raises comes through."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(function, *args, **kwargs).result()
