"""A bench job on the worker: the sample that graders see, and the result."""

from trainer_core.link.bench import BenchJudge, BenchResult, BenchSample, BenchScore, ThinkingTags
from trainer_core.link.explanation import explanations
from trainer_core.rewards import Sample, split_thinking
from worker.judge.use import Use, mean
from worker.scoring.scorer import Graded


def graded_sample(sample: BenchSample, thinking: ThinkingTags | None) -> Sample:
    """The sample as graders see it."""
    thoughts, answer = None, sample.output_text
    if thinking is not None:
        thoughts, answer = split_thinking(sample.output_text, thinking.start, thinking.end, thinking.answer_start)
    return Sample(sample.output_text, thoughts, answer, sample.completion_tokens, sample.finish_reason)


def result(rows: list[list[Graded]], use: Use) -> BenchResult:
    """Scores in the shape [definitions][samples], and the total use of the judges."""
    return BenchResult(
        results=tuple(tuple(_score(graded) for graded in row) for row in rows),
        judge=BenchJudge(
            calls=use.calls,
            cached=use.cached,
            prompt_tokens=use.prompt_tokens,
            completion_tokens=use.completion_tokens,
            cost=use.known_cost if use.calls else None,
            seconds_p50=use.quantile(0.5),
            seconds_p95=use.quantile(0.95),
            agreement_repeat=mean(use.repeat),
            agreement_swap=mean(use.swap),
        ),
    )


def _score(graded: Graded) -> BenchScore:
    score = graded.score
    return BenchScore(
        reward=score.reward,
        parts=score.parts,
        error=score.error,
        traceback=graded.traceback,
        seconds=graded.seconds,
        forgiven=tuple(score.forgiven),
        explanation=explanations(score.explained),
    )
