"""Processor time decides: an endless program is a zero, and a machine that others use turns no right one into one."""

import os
from dataclasses import replace

import pytest

from tests.support.busy import busy
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.graders.jail import BusyError, Limits
from trainer_core.rewards.sample import Sample
from worker.sandbox import job_run
from worker.sandbox.pool import JailPool
from worker.scoring.equipped import EquippedScorer, ToolSetup
from worker.scoring.scorer import Job

ENDLESS = "while True: pass"
SECOND = "import time\nwhile time.process_time() < 0.3: pass\nprint(2 * int(input()))"
ROW = {"tests": [{"input": "21\n", "output": "42\n"}] * 4}


def definition(**options: object) -> RewardDefinition:
    grader = {"type": "code_tests", "credit": "share", "timeout_s": 1.0, **options}
    return RewardDefinition.model_validate({"components": [{"name": "tests", "grader": grader}]})


def sample(code: str) -> Sample:
    return Sample(output_text=code, thinking_text=None, answer_text=code, completion_tokens=1)


def test_an_endless_program_is_a_zero_though_the_rewards_time_is_shorter() -> None:
    opened = EquippedScorer([definition()], ToolSetup(processes=os.cpu_count() or 1), timeout_s=0.2)
    try:
        endless, ended = (
            opened.scorer.score([Job(definition(total_timeout_s=0.8, timeout_s=0.4), sample(code), ROW)])[0].score
            for code in (ENDLESS, "import os\nos._exit(3)")
        )
        assert (endless.reward, endless.error) == (0.0, None)
        assert (ended.reward, ended.error) == (0.0, None)
    finally:
        opened.close()


def test_inputs_that_are_not_reached_fail(jail: JailPool, monkeypatch: pytest.MonkeyPatch) -> None:
    run = jail.run
    monkeypatch.setattr(jail, "run", lambda *given: replace(run(*given), cpu_s=0.7))
    grader = definition(total_timeout_s=1.0).components[0].grader
    assert grader.grade(sample("input()\nprint(42)"), ROW, jail) == 0.5  # type: ignore[call-arg]


def a_right_program_gets_its_processor_time(jail: JailPool) -> None:
    outcome = jail.program(SECOND, "21\n", "python", Limits(wall_s=0.8, cpu_s=0.8))
    assert (outcome.end, outcome.output) == ("exit", b"42\n")
    assert outcome.cpu_s < 0.8 < outcome.seconds, "by the clock it took longer than it may"


@pytest.mark.usefixtures("slow_machine")
def test_a_right_program_on_a_slow_machine(jail: JailPool) -> None:
    a_right_program_gets_its_processor_time(jail)


@pytest.mark.loud
@pytest.mark.expensive(8, "busy processes beside", about=("worker/sandbox",))
def test_a_right_program_beside_busy_processes(jail: JailPool) -> None:
    with busy(3 * (os.cpu_count() or 1)):
        a_right_program_gets_its_processor_time(jail)


def test_a_program_that_is_too_slow_ends_by_its_processor_time(jail: JailPool) -> None:
    outcome = jail.program(ENDLESS, "", "python", Limits(wall_s=60.0, cpu_s=0.3))
    assert outcome.end == "cpu"
    assert 0.3 <= outcome.cpu_s < 1.5
    several = "import os\nfor _ in range(3): os.fork()\nwhile True: pass"
    assert jail.program(several, "", "python", Limits(wall_s=60.0, cpu_s=0.5)).end == "cpu"


def test_a_program_that_gets_no_processor_is_an_error(jail: JailPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_run, "_PATIENCE", 0)
    monkeypatch.setattr(job_run, "_PATIENCE_S", 0.2)
    with pytest.raises(BusyError, match="this machine is too busy"):
        jail.program("import time\ntime.sleep(30)", "", "python", Limits(wall_s=20.0))
    assert jail.program("print(1)", "", "python", Limits(wall_s=20.0)).output == b"1\n"
