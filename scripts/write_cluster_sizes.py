"""Prints the table of sizes and costs in ``deploy/README.md``, from the planner.

The run: 512 prompts a step, 16 answers each of up to 8,192 tokens (median 2,048), four updates, asynchronous with four
versions of staleness, an engine in bfloat16, a checkpoint every 20 steps.
"""

from trainer_core.planning.cluster import SCALES, SIZES, ClusterEstimate, estimate
from trainer_core.spec import RunSpec
from trainer_core.spec.recipes import list_recipes

GPU, PRICE = "H100", 2.5
"""Kind of GPU, and dollars that one costs for an hour."""
POLICIES = ("Qwen2.5-1.5B", "Qwen2.5-7B", "Qwen2.5-32B", "Qwen3-30B-A3B", "Qwen3-235B-A22B")


def run_spec() -> RunSpec:
    """The run of the table."""
    document = next(recipe for recipe in list_recipes() if recipe.name == "areal").run_spec().model_dump(mode="json")
    document["schedule"] |= {"prompts_per_step": 512}
    document["rollout"] |= {"group_size": 16, "max_tokens": 8192}
    document["rollout"]["engine"] |= {"dtype": "bfloat16", "max_model_len": 9216, "max_num_seqs": 256}
    document["parallelism"] |= {"max_tokens_per_microbatch": 16384}
    document["checkpoint"] |= {"every_steps": 20}
    return RunSpec.model_validate(document)


def cells(found: ClusterEstimate) -> str:
    """The cells of one line behind the policy's name."""
    if found.refusal:
        return f"{found.gpus:,} | {found.refusal.rstrip('.')} | | | "
    engines = (
        f"{found.rollout_engines:,} × {found.gpus_per_engine}" if found.gpus_per_engine > 1 else found.rollout_gpus
    )
    split = f"{engines} engines, {found.learner_gpus:,} learner"
    hours, cost = found.gpu_hours or 0.0, found.cost or 0.0
    return f"{found.gpus:,} | {split} | {found.step_seconds:,.0f} s | {hours:,.0f} | ${cost:,.0f}"


def table() -> str:
    """The whole table."""
    lines = ["| policy | GPUs | split | step | GPU hours of 1,000 steps | cost |", "|---|---|---|---|---|---|"]
    spec = run_spec()
    for policy in POLICIES:
        for found in estimate(spec, SCALES[policy], GPU, SIZES, price=PRICE):
            lines.append(f"| {policy} | {cells(found).rstrip()} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(), end="")
