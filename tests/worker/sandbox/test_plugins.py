"""Reward functions written for TRL and verifiers run unchanged in the jail, and their failures are errors."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.about import TRAINING
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import grade, needs_jail, needs_packages
from trainer_core.rewards.graders.code.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.code.plugin import PluginFunction, PluginGrader
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool

TRL = '''
import re
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

def format_reward(completions, **kwargs):
    """1 where the completion thinks before it answers."""
    return [1.0 if re.match(r"^<think>.*?</think>", text, re.DOTALL) else 0.0 for text in completions]

def accuracy_reward(prompts, completions, answer, **kwargs) -> list[float | None]:
    assert len(prompts) == len(completions) == len(answer)
    return [None if gold is None else float(text.endswith(gold)) for text, gold in zip(completions, answer)]

async def length_reward(completions, **kwargs):
    import asyncio
    await asyncio.sleep(0)
    return [-len(text) / 100 for text in completions]

def chat_reward(completions, level):
    return [len(completion[0]["content"]) * float(weight) for completion, weight in zip(completions, level)]

class Counted:
    def __call__(self, completions):
        return [len(text) for text in completions]

counted = Counted()

def main():
    GRPOTrainer(args=GRPOConfig(), train_dataset=load_dataset("x"))
'''

VERIFIERS = """
import verifiers as vf
from verifiers.types import Messages, State

parser = vf.XMLParser(["think", "answer"], answer_field="answer")

def correct(parser, completion: Messages, answer: str) -> float:
    return 1.0 if parser.parse_answer(completion) == answer else 0.0

async def short(completion, state: State, info: dict, **kwargs) -> float:
    assert state["answer"] == kwargs["answer"] and kwargs["prompt"][-1]["role"] == "user"
    return float(len(completion[-1]["content"]) < info["longest"])

rubric = vf.Rubric(funcs=[correct, short], weights=[1.0, 0.25], parser=parser)
rubric.add_reward_func(parser.get_format_reward_func(), weight=0.5)
"""
ROW = {"prompt": "What is 40 + 2?", "answer": "42", "info": {"longest": 100}}


def sample(text: str) -> Sample:
    return Sample(output_text=text, thinking_text=None, answer_text=text, completion_tokens=1)


def trl(source: str = TRL, timeout_s: float = 20.0, **weights: float) -> PluginGrader:
    functions = tuple(PluginFunction(name=name, weight=weight) for name, weight in weights.items())
    return PluginGrader(kind="trl", source=source, functions=functions, timeout_s=timeout_s)


def test_functions_of_trl(jail: JailPool) -> None:
    grader = trl(accuracy_reward=1.0, format_reward=0.5, length_reward=1.0)
    assert needs_jail(grader)
    assert grade(grader, sample("<think>a</think>42"), ROW, Tools(jail)) == pytest.approx(1.5 - 0.18)
    assert grade(grader, sample("41"), ROW, Tools(jail)) == pytest.approx(-0.02)


def test_what_a_function_of_trl_says_nothing_of_does_not_count(jail: JailPool) -> None:
    row = {**ROW, "answer": None}
    assert grade(trl(accuracy_reward=1.0, format_reward=0.5), sample("<think></think>"), row, Tools(jail)) == 0.5
    with pytest.raises(GraderError, match="no function of the plug-in applies"):
        grade(trl(accuracy_reward=1.0), sample("42"), row, Tools(jail))


def test_conversations_reach_functions_of_trl_as_messages(jail: JailPool) -> None:
    row = {"messages": [{"role": "user", "content": "hello"}], "level": 3}
    assert grade(trl(chat_reward=2.0), sample("abcd"), row, Tools(jail)) == 24.0


def test_an_object_that_can_be_called_is_a_function(jail: JailPool) -> None:
    assert grade(trl(counted=1.0), sample("abcd"), ROW, Tools(jail)) == 4.0


def test_a_rubric_of_verifiers(jail: JailPool) -> None:
    grader = PluginGrader(kind="verifiers", source=VERIFIERS, timeout_s=20.0)
    assert grade(grader, sample("<think>a</think><answer>42</answer>"), ROW, Tools(jail)) == 1.75
    assert grade(grader, sample("<answer>41</answer>"), ROW, Tools(jail)) == 0.75
    assert grade(grader, sample("4" * 200), ROW, Tools(jail)) == 0.0


def test_named_functions_of_verifiers_and_a_rubric_that_is_loaded(jail: JailPool) -> None:
    named = PluginGrader(
        kind="verifiers", source=VERIFIERS, functions=(PluginFunction(name="short", weight=3.0),), timeout_s=20.0
    )
    assert grade(named, sample("42"), ROW, Tools(jail)) == 3.0
    loaded = """
import verifiers as vf
def exact(completion, answer): return completion[0]["content"] == answer
def load_rubric(): return vf.RubricGroup([vf.Rubric([exact]), vf.Rubric([exact], [0.5])])
"""
    grader = PluginGrader(kind="verifiers", source=loaded, timeout_s=20.0)
    assert grade(grader, sample("42"), ROW, Tools(jail)) == 1.5


def test_installed_packages_where_they_are_asked_for(jail: JailPool) -> None:
    source = """
from math_verify import parse, verify
def right(completions, answer):
    return [float(verify(parse(gold), parse(text))) for text, gold in zip(completions, answer)]
"""
    grader = trl(source, right=1.0)
    with pytest.raises(GraderError, match="ModuleNotFoundError"):
        grade(grader, sample("$0.5$"), {"answer": r"$\frac{1}{2}$"}, Tools(jail))
    allowed = grader.model_copy(update={"packages": True})
    assert grade(allowed, sample("$0.5$"), {"answer": r"$\frac{1}{2}$"}, Tools(jail)) == 1.0


@pytest.mark.expensive(4, "starts jails", about=TRAINING)
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return {}['x']", "KeyError: 'x'"),
        ("while True: pass", "longer than its time-out"),
        ("return [1.0, 2.0]", "returned 2 rewards for 1 completion"),
        ("return ['high']", "ValueError"),
        ("return [float('nan')]", "not a finite number"),
        ("return completion_ids", "completion_ids"),
        ("import os; os._exit(0)", "gave no number"),
        ("open('/etc/shadow')", "FileNotFoundError"),
        ("import trl; return trl.GRPOTrainer()", "not there in the jail"),
    ],
)
def test_a_failing_function_is_an_error(jail: JailPool, body: str, message: str) -> None:
    with pytest.raises(GraderError, match=message):
        grade(trl(f"def f(completions):\n    {body}", timeout_s=2.0, f=1.0), sample("abc"), ROW, Tools(jail))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def f(completions, answers): return [1.0]", "compares the completions of a group"),
        ("def g(completion): return 1.0", "defines no function 'f'"),
    ],
)
def test_functions_of_verifiers_that_cannot_be_called(jail: JailPool, source: str, message: str) -> None:
    grader = PluginGrader(kind="verifiers", source=source, functions=(PluginFunction(name="f"),), timeout_s=20.0)
    with pytest.raises(GraderError, match=message):
        grade(grader, sample("abc"), ROW, Tools(jail))


def test_two_rubrics_and_no_word_which_one_counts(jail: JailPool) -> None:
    source = "import verifiers as vf\na, b = vf.Rubric([len]), vf.Rubric([len])"
    with pytest.raises(GraderError, match="holds 2 rubrics"):
        grade(PluginGrader(kind="verifiers", source=source, timeout_s=20.0), sample("abc"), ROW, Tools(jail))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "trl", "source": "def f(): pass"}, "name the functions"),
        ({"kind": "trl", "source": "def f(: pass", "functions": [{"name": "f"}]}, "not a Python program"),
        ({"kind": "trl", "source": "x", "functions": [{"name": "f"}, {"name": "f"}]}, "named twice"),
        ({"kind": "ray", "source": "x"}, "'trl' or 'verifiers'"),
    ],
)
def test_plugins_that_cannot_work_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        PluginGrader.model_validate(values)


def test_without_a_jail_nothing_runs() -> None:
    with pytest.raises(GraderError, match="on the cluster"):
        grade(trl(format_reward=1.0), sample("42"), ROW)


def test_installed_packages_are_loaded_only_where_they_are_needed() -> None:
    plain, packed = trl(format_reward=1.0), trl(format_reward=1.0).model_copy(update={"packages": True})
    assert [needs_packages(grader) for grader in (plain, packed, MathGrader(), CodeTestsGrader())] == [
        False, True, True, False,
    ]  # fmt: skip
