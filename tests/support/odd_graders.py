"""Graders that do what graders should not. The grading processes import this module by its name."""

import ctypes
import json
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from trainer_core.rewards import RewardDefinition, Sample
from trainer_core.rewards.definition import Component
from trainer_core.rewards.grader_model import GraderModel


class OddGrader(GraderModel):
    """Does ``deed``, if the sample's text says so; else it is worth 1."""

    type: Literal["odd"] = "odd"
    deed: str

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 where there is no misdeed."""
        return 1.0 if sample.output_text != "misbehave" else float(getattr(self, f"_{self.deed}")())

    def _spin(self) -> float:
        while True:
            try:
                while True:
                    pass
            except Exception:  # swallows all that an ordinary grader might
                pass

    def _spin_in_c(self) -> float:
        return float(sum(range(10**12)))  # one call: Python looks at nothing before it has ended

    def _sleep(self) -> float:
        time.sleep(600)
        return 1.0

    def _meet(self) -> float:
        """Waits until another process does it as well, in the folder of the run's temporary files."""
        folder = Path(os.environ["TMPDIR"])
        (folder / str(os.getpid())).touch()
        while len(list(folder.iterdir())) < 2:
            time.sleep(0.01)
        return 1.0

    def _fill(self) -> float:
        held = []
        while True:
            held.append(bytearray(16 << 20))

    def _crash(self) -> float:
        return float(ctypes.string_at(0)[0])

    def _bug(self) -> float:
        raise KeyError("nothing")

    def _pid(self) -> float:
        return float(os.getpid())

    def _environment(self) -> float:
        return float(any("SECRET" in name or "URL" in name for name in os.environ))


class KeyErrorGrader(GraderModel):
    """Raises ``KeyError(message)``, from an error of the standard library."""

    type: Literal["key_error"] = "key_error"
    message: str

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """Never returns."""
        try:
            return float(json.loads("{"))
        except ValueError as error:
            raise KeyError(self.message) from error


class SlowToLoadGrader(GraderModel):
    """Loads for half a second of processor time, and is worth 1."""

    type: Literal["slow_to_load"] = "slow_to_load"

    def load(self) -> None:
        """Compute."""
        end = time.process_time() + 0.5
        while time.process_time() < end:
            pass

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0."""
        return 1.0


class EndedWhileLoadingGrader(GraderModel):
    """Is ended while it loads, as the kernel does it at the limit of processor time."""

    type: Literal["ended_while_loading"] = "ended_while_loading"

    def load(self) -> None:
        """Never returns."""
        os.kill(os.getpid(), signal.SIGPROF)

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0."""
        return 1.0


def odd(deed: str, **options: Any) -> RewardDefinition:
    """A definition of one odd part."""
    return RewardDefinition.model_construct(components=(part(OddGrader(deed=deed), **options),))


def part(grader: GraderModel, name: str = "part", **options: Any) -> Component:
    """A component with a grader that no definition may name."""
    return Component.model_construct(name=name, grader=grader, **options)


def replace(monkeypatch: pytest.MonkeyPatch, kind: type[GraderModel], stand_in: GraderModel) -> None:
    """Have ``stand_in`` arrive in the grading processes wherever a grader of ``kind`` is sent there."""
    monkeypatch.setattr(kind, "__reduce_ex__", lambda self, protocol: (_itself, (stand_in,)))


def _itself(grader: GraderModel) -> GraderModel:
    return grader
