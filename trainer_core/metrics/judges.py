"""Registry entries of judge requests in a step: (name, title, unit, formula)."""

from trainer_core.metrics.metric import Metric

_J = "judge/"

_TABLE: tuple[tuple[str, str, str, str], ...] = (
    (_J + "calls", "Judge answers", "answers", "answered questions, including cached ones"),
    (_J + "errors", "Judge failures", "questions", "questions without an answer after all retries"),
    (_J + "cached_share", "Cached judge answers", "share", "answers from the cache / questions"),
    (_J + "tokens", "Judge tokens", "tokens", "prompt and completion tokens of uncached answers"),
    (_J + "latency_p50", "Judge latency", "s", "median time of an uncached answer, including retries"),
    (_J + "latency_p95", "Slow judge answers", "s", "95th percentile of that time"),
    (_J + "cost", "Judge cost", "price", "tokens · price of the endpoint; omitted if a price is unknown"),
    (_J + "agreement_repeat", "Judge agrees with itself", "share", "1 − mean difference of scores at other seeds"),
    (_J + "agreement_swap", "Judge agrees in reverse order", "share", "1 − mean difference of scores when swapped"),
)

ENTRIES = tuple(Metric(*entry, "judge") for entry in _TABLE)
