"""OpenAI's answer to ``graders/run``."""

import json
from typing import Any

from dressage.compat.graders.reading import name_of, parts_of
from dressage.compat.graders.running import Ran
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import Grader, formula
from trainer_core.rewards.graders.multi import MultiGrader

_FLAGS = (
    "formula_parse_error", "invalid_variable_error", "model_grader_parse_error", "model_grader_refusal_error",
    "model_grader_server_error", "other_error", "python_grader_runtime_error", "python_grader_server_error",
    "sample_parse_error", "truncated_observation_error", "unresponsive_reward_error",
)  # fmt: skip
_UNREADABLE = "the judge's answer is"
"""Beginnings of the errors of ``trainer_core.rewards.graders.judge`` for answers that are not of the asked form."""
_TOO_SLOW = "the reward took longer"
"""Beginning of the error of a score that ran into its time-out."""
_JUDGES = ("rubric", "label_model", "score_model", "reward_model")


def run_response(grader: Grader, ran: Ran, text: str, models: dict[str, str]) -> dict[str, Any]:
    """The response's document. ``reward`` is null, never 0, when it could not be computed.

    Args:
        grader: the grader that was run.
        ran: how it went.
        text: the model's sample.
        models: model by judge endpoint, of the judges that the grader names.
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
        # The worker counts over all judges: with several, whose tokens they were is not known.
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


def _errors(grader: Grader, ran: Ran, error: str | None, text: str) -> dict[str, Any]:
    errors: dict[str, Any] = dict.fromkeys(_FLAGS, False)
    errors |= {
        "model_grader_server_error_details": None,
        "python_grader_runtime_error_details": None,
        "python_grader_server_error_type": None,
        "other_error_details": None,
    }
    errors["sample_parse_error"] = "output_json" in grader.model_dump_json() and not _is_json(text)
    if error is None:
        return errors
    failed = parts_of(grader).get(ran.failed or "")
    if ran.late or error.startswith(_TOO_SLOW):
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


def _usage(judge: dict[str, Any]) -> dict[str, int]:
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
