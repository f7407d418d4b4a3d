"""Scores the samples of a bench job under each of its definitions."""

from trainer_core.link.bench import BenchJob, BenchResult
from trainer_core.rewards import RewardDefinition
from worker.jobs.bench.job import graded_sample, result
from worker.scoring.equipped import EquippedScorer, ToolSetup
from worker.scoring.scorer import Job


def score_job(job: BenchJob, setup: ToolSetup) -> BenchResult:
    """The scores.

    Raises:
        JailError: this machine has no strong jail, and a grader runs untrusted text.
        StartError: a judge or a reward model is not available.
    """
    definitions = [entry.definition for entry in job.definitions]
    bench = EquippedScorer(definitions, setup, job.timeout_s)
    try:
        rows = [bench.scorer.score(_jobs(job, definition)) for definition in definitions]
        return result(rows, bench.use())
    finally:
        bench.close()


def _jobs(job: BenchJob, definition: RewardDefinition) -> list[Job]:
    return [Job(definition, graded_sample(sample, job.thinking), sample.item) for sample in job.samples]
