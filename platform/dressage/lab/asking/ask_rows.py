"""Asks a model about many rows, a few at a time. A row without an answer is an error of that row, never a zero."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from typing import Any

from dressage.lab.arguments import AnyAsking
from dressage.lab.asking.client import MOST_AT_ONCE, AskedModel, AskedTokens, EndpointClient, RowAsker
from dressage.lab.asking.outcomes import AskedOutcome, KeptOutcomes
from dressage.lab.asking.rows import AskedRow, asked_rows, number_of_asked
from dressage.lab.asking.served import ServedClient
from dressage.lab.plan import LabWork, UnfitError
from trainer_core.link.judge import JudgeEndpoint
from trainer_core.rewards.errors import GraderError

FIRST = 20
"""Number of first rows of which at least one must be answered; otherwise the job stops and fails."""
IN_A_ROW = 50
"""Number of consecutive failures after which the remaining rows are skipped."""
MOST_SIGNS = 400_000
"""Maximum length of a row that a model is asked about: a few hundred thousand tokens."""
AskRow = Callable[[AskedRow, RowAsker], dict[str, Any]]
"""Asks about one row. Returns the result as JSON, or ``LEFT_OUT``. Raises GraderError if the model did not answer."""


def ask_rows(work: LabWork, operation: AnyAsking, ask: AskRow) -> list[AskedOutcome]:
    """Outcomes of all rows, in order. Rows with outcomes from an earlier process of the job are not asked again.

    Raises:
        UnfitError: none of the first rows was answered.
    """
    assert work.endpoint is not None
    total = number_of_asked(work.version, operation.sample, work.chosen)
    kept = KeptOutcomes(work.folder)
    client = client_of(work.endpoint, "endpoint", work)
    other = None if work.solver is None else client_of(work.solver, "solver", work)
    at_once = min(MOST_AT_ONCE, *(one.max_in_flight for one in (work.endpoint, work.solver) if one is not None))
    pool = ThreadPoolExecutor(at_once)
    failed, stopped = 0, ""
    too_long: set[int] = set()

    def one(row: AskedRow) -> AskedOutcome:
        asker = RowAsker(client, other)
        if (signs := sum(len(row.text(column)) for column in operation.columns)) > MOST_SIGNS:
            too_long.add(row.number)
            detail = f"Not queried: the row has {signs:,} characters, and the maximum is {MOST_SIGNS:,}"
            return AskedOutcome(row.number, None, detail, asker.use)
        if stopped:
            detail = f"Not queried: {IN_A_ROW} rows in a row had failed, the last because {stopped}"
            return AskedOutcome(row.number, None, detail, asker.use)
        try:
            found, failure = ask(row, asker), None
        except GraderError as error:
            found, failure = None, str(error)[:1000]
        other_use = AskedTokens() if asker.other is asker else asker.other.use
        return AskedOutcome(row.number, found, failure, asker.use, other_use)

    def told() -> None:
        work.told("Querying the model about rows", len(kept.outcomes), total)

    try:
        told()
        rows = asked_rows(work.version, operation.sample, operation.seed, work.chosen)
        left = (row for row in rows if row.number not in kept.outcomes)
        for answered in _as_answered(pool, one, left, 2 * at_once):
            outcome = kept.keep(answered)
            told()
            if outcome.row in too_long or outcome.left_out:
                continue  # this says nothing about the model
            failed = failed + 1 if outcome.error else 0
            if outcome.error and failed >= IN_A_ROW and not stopped:
                stopped = outcome.error
            if outcome.error and (tried := _none_answered(kept)) and len(tried) - len(too_long) >= FIRST:
                raise UnfitError(_nothing(tried, outcome.error))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        kept.close()
    for one_client in (client, other):
        if one_client is not None:
            one_client.close()
    found = [kept.outcomes[number] for number in sorted(kept.outcomes)]
    if tried := _none_answered(kept):
        raise UnfitError(_nothing(tried, tried[-1].error or ""))
    return found


def client_of(config: JudgeEndpoint, name: str, work: LabWork) -> AskedModel:
    """The client for a model: over HTTP, or for one that the cluster serves and that questions refer to by ``name``."""
    if config.model_dir is None:
        return EndpointClient(config)
    assert work.pipe is not None
    return ServedClient(config, name, work.pipe)


def _as_answered(
    pool: ThreadPoolExecutor, one: Callable[[AskedRow], AskedOutcome], rows: Iterable[AskedRow], most: int
) -> Iterator[AskedOutcome]:
    """Outcomes as they arrive.

    At most ``most`` rows are held at a time, since ten thousand long rows would fill the memory.
    """
    under_way: set[Future[AskedOutcome]] = set()
    for row in rows:
        under_way.add(pool.submit(one, row))
        if len(under_way) >= most:
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    yield from (future.result() for future in as_completed(under_way))


def _none_answered(kept: KeptOutcomes) -> list[AskedOutcome]:
    """The rows asked about, in order, if none of them was answered; otherwise nothing."""
    if any(each.error is None and not each.left_out for each in kept.outcomes.values()):
        return []
    return [kept.outcomes[number] for number in sorted(kept.outcomes) if not kept.outcomes[number].left_out]


def _nothing(tried: Sequence[AskedOutcome], error: str) -> str:
    rows = len(tried)
    which = "the row" if rows == 1 else f"any of the first {rows} rows"
    uses = [use for one in tried for use in (one.use, one.other_use)]
    prompt = sum(use.prompt_tokens for use in uses)
    completion = sum(use.completion_tokens for use in uses)
    took = f" It used {prompt:,} prompt tokens and {completion:,} completion tokens." if prompt else ""
    return f"The model did not answer for {which}: {error.removesuffix('.')}.{took}"
