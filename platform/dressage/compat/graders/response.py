"""OpenAI's response to ``graders/run``."""

import json
import re
from typing import Any

from typing_extensions import TypedDict

from dressage.compat.graders.reading import name_of, parts_of
from dressage.compat.graders.running import Ran
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import Grader, formula
from trainer_core.rewards.graders.multi import MultiGrader


class GraderErrorsDocument(TypedDict):
    """What went wrong; all false when there is a reward."""

    formula_parse_error: bool
    invalid_variable_error: bool
    """The row lacks a field that the grader reads."""
    model_grader_parse_error: bool
    model_grader_refusal_error: bool
    model_grader_server_error: bool
    other_error: bool
    python_grader_runtime_error: bool
    python_grader_server_error: bool
    sample_parse_error: bool
    """The grader reads JSON, but the sample is not JSON."""
    truncated_observation_error: bool
    unresponsive_reward_error: bool
    """There was no response in time."""
    model_grader_server_error_details: str | None
    python_grader_runtime_error_details: str | None
    python_grader_server_error_type: str | None
    other_error_details: str | None
    """An extension of OpenAI's members."""


class GraderMetadataDocument(TypedDict):
    """How a grader was run."""

    name: str
    type: str
    errors: GraderErrorsDocument
    execution_time: float
    """Seconds."""
    scores: dict[str, float]
    token_usage: int | None
    sampled_model_name: str | None


class GraderTokenUsageDocument(TypedDict):
    """Tokens of one judge."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    cached_tokens: int


class GraderRunDocument(TypedDict):
    """A reward and how it was computed."""

    reward: float | None
    """None if it could not be computed: never a zero."""
    sub_rewards: dict[str, float]
    """Of a ``multi``: grade by name."""
    metadata: GraderMetadataDocument
    model_grader_token_usage_per_model: dict[str, GraderTokenUsageDocument]


_UNREADABLE = "the judge's answer is"
"""Beginnings of the errors of ``trainer_core.rewards.graders.model.judge`` for responses in the wrong format."""
_TOO_SLOW = re.compile(r"the reward took longer|the \w+ grader (used more than|did not end within)|not scored: ")
"""Beginnings of the errors of a score that exceeded a time limit."""
_JUDGES = ("rubric", "label_model", "score_model", "reward_model")


def run_response(grader: Grader, ran: Ran, text: str, models: dict[str, str]) -> GraderRunDocument:
    """The response's document. ``reward`` is null, never 0, if it could not be computed.

    Args:
        grader: the grader that was run.
        ran: outcome of the run.
        text: the model's sample.
        models: model of each judge endpoint that the grader names.
    """
    reward, error = _reward(grader, ran)
    usage = ran.judge.get("prompt_tokens", 0) + ran.judge.get("completion_tokens", 0) if ran.judge else None
    asked = sorted(set(models.values()))
    return {
        "reward": reward,
        "sub_rewards": ran.grades if isinstance(grader, MultiGrader) else {},
        "metadata": {
            "name": name_of(grader),
            "type": grader.type,
            "errors": _errors(grader, ran, error, text),
            "execution_time": ran.seconds,
            "scores": ran.grades,
            "token_usage": usage,
            "sampled_model_name": asked[0] if len(asked) == 1 else None,
        },
        # The worker counts over all judges: with several, it is unknown which one used the tokens.
        "model_grader_token_usage_per_model": {asked[0]: _usage(ran.judge)} if ran.judge and len(asked) == 1 else {},
    }


def _reward(grader: Grader, ran: Ran) -> tuple[float | None, str | None]:
    if ran.error is not None:
        return None, ran.error
    if not isinstance(grader, MultiGrader):
        return ran.grades[name_of(grader)], None
    try:
        return formula.compute(grader.calculate_output, ran.grades), None
    except GraderError as error:
        return None, str(error)


def _errors(grader: Grader, ran: Ran, error: str | None, text: str) -> GraderErrorsDocument:
    errors: GraderErrorsDocument = {
        "formula_parse_error": False,
        "invalid_variable_error": False,
        "model_grader_parse_error": False,
        "model_grader_refusal_error": False,
        "model_grader_server_error": False,
        "other_error": False,
        "python_grader_runtime_error": False,
        "python_grader_server_error": False,
        "sample_parse_error": False,
        "truncated_observation_error": False,
        "unresponsive_reward_error": False,
        "model_grader_server_error_details": None,
        "python_grader_runtime_error_details": None,
        "python_grader_server_error_type": None,
        "other_error_details": None,
    }
    errors["sample_parse_error"] = "output_json" in grader.model_dump_json() and not _is_json(text)
    if error is None:
        return errors
    failed = parts_of(grader).get(ran.failed or "")
    if ran.late or _TOO_SLOW.match(error):
        errors["unresponsive_reward_error"] = True
        errors["other_error_details"] = error
    elif error.startswith("the row has no"):
        errors["invalid_variable_error"] = True
        errors["other_error_details"] = error
    elif failed is not None and failed.type == "python":
        errors["python_grader_runtime_error"] = True
        errors["python_grader_runtime_error_details"] = error
    elif failed is not None and error.startswith(_UNREADABLE):
        errors["model_grader_parse_error"] = True
        errors["other_error_details"] = error
    elif failed is not None and failed.type in _JUDGES:
        errors["model_grader_server_error"] = True
        errors["model_grader_server_error_details"] = error
    else:
        errors["other_error"] = True
        errors["other_error_details"] = error
    return errors


def _usage(judge: dict[str, Any]) -> GraderTokenUsageDocument:
    prompt, completion = judge["prompt_tokens"], judge["completion_tokens"]
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "cached_tokens": 0,
    }


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
