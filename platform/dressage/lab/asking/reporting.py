"""The part of reports that all operations have which ask a model."""

from collections.abc import Sequence

from dressage.lab.asking.outcomes import AskedOutcome
from dressage.lab.plan import LabWork
from dressage.lab.reports import AskedReport
from dressage.lab.shown_rows import shown_rows
from trainer_core.link.judge import JudgeEndpoint

_SHOWN = 30


def asked_report(work: LabWork, outcomes: Sequence[AskedOutcome]) -> AskedReport:
    """Tell what was asked, what it took and cost, and the rows that were not answered."""
    assert work.endpoint is not None
    prompt = sum(one.use.prompt_tokens for one in outcomes)
    completion = sum(one.use.completion_tokens for one in outcomes)
    failed = [one for one in outcomes if one.error is not None]
    shown = shown_rows(work.version, [one.row for one in failed[:_SHOWN]])
    return {
        "model": work.endpoint.model,
        "rows": len(outcomes),
        "answered": len(outcomes) - len(failed),
        "failed": len(failed),
        "failures": [{"row": shown[one.row], "reason": one.error or ""} for one in failed[:_SHOWN]],
        "questions": sum(one.use.questions for one in outcomes),
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "price": price_of(work.endpoint, prompt, completion),
    }


def price_of(endpoint: JudgeEndpoint, prompt_tokens: int, completion_tokens: int) -> float | None:
    """The price of tokens; None where the endpoint's prices are not known."""
    if endpoint.price_prompt is None or endpoint.price_completion is None:
        return None
    return (prompt_tokens * endpoint.price_prompt + completion_tokens * endpoint.price_completion) / 1e6
