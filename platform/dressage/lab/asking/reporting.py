"""The common part of the reports of operations that use a model."""

from collections.abc import Sequence

from dressage.lab.asking.client import AskedTokens
from dressage.lab.asking.outcomes import AskedOutcome
from dressage.lab.plan import LabWork
from dressage.lab.reports import AskedReport
from dressage.lab.shown_rows import shown_rows
from trainer_core.link.judge import JudgeEndpoint

_SHOWN = 30


def asked_report(work: LabWork, outcomes: Sequence[AskedOutcome]) -> AskedReport:
    """Report requests, tokens, cost, and the rows that were not answered."""
    assert work.endpoint is not None
    own = AskedTokens.sum_of(one.use for one in outcomes)
    others = AskedTokens.sum_of(one.other_use for one in outcomes)
    rows = sum(not one.left_out for one in outcomes)
    failed = [one for one in outcomes if one.error is not None]
    shown = shown_rows(work.version, [one.row for one in failed[:_SHOWN]])
    return {
        "model": models_of(work.endpoint, work.solver),
        "rows": rows,
        "answered": rows - len(failed),
        "failed": len(failed),
        "failures": [{"row": shown[one.row], "reason": one.error or ""} for one in failed[:_SHOWN]],
        "questions": own.questions + others.questions,
        "prompt_tokens": own.prompt_tokens + others.prompt_tokens,
        "completion_tokens": own.completion_tokens + others.completion_tokens,
        "price": _price_of_all([(work.endpoint, own), (work.solver or work.endpoint, others)]),
    }


def models_of(endpoint: JudgeEndpoint, solver: JudgeEndpoint | None) -> str:
    """Names of the models used."""
    return endpoint.model if solver is None else f"{endpoint.model} and {solver.model}"


def _price_of_all(uses: Sequence[tuple[JudgeEndpoint, AskedTokens]]) -> float | None:
    prices = [price_of(endpoint, use.prompt_tokens, use.completion_tokens) for endpoint, use in uses]
    known = [price for price in prices if price is not None]
    return sum(known) if len(known) == len(prices) else None


def price_of(endpoint: JudgeEndpoint, prompt_tokens: int, completion_tokens: int) -> float | None:
    """The price of tokens; None if the endpoint's prices are unknown."""
    if endpoint.price_prompt is None or endpoint.price_completion is None:
        return None
    return (prompt_tokens * endpoint.price_prompt + completion_tokens * endpoint.price_completion) / 1e6
