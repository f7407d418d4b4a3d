"""The loop's modes on long-tailed lengths: how busy the engine is, and how near the planner's bound the loop comes."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.report import Figure
from tests.bench.runs import demo_spec, train
from tests.support.installation import ROOT, Installation
from trainer_core.planning import plan
from trainer_core.spec import RunSpec
from worker.plan.measure import measure as measure_rates

LENGTHS = {"max_tokens": 384, "max_model_len": 448}
ENGINE = {"max_model_len": LENGTHS["max_model_len"], "max_num_seqs": 256, "kv_cache_gib": 1.0}
DATA = {"sources": [{"name": "add_sub", "dataset": "gsm8k-add-sub@1"}]}
PROMPTS = ROOT / "demo" / "data" / "gsm8k-add-sub.jsonl"
STEPS, WARM, LAST = 24, 5, 6
"""Steps of a run, and of these the first and the last ones that do not count: ends of a run generate nothing ahead."""
MODES: dict[str, dict[str, Any]] = {
    "sync": {"type": "sync"},
    "streamed": {"type": "streamed"},
    "async": {"type": "async", "max_staleness": 4},
    "in_flight": {"type": "in_flight", "max_staleness": 4},
}


def policy(installation: Installation) -> Path:
    """The starter policy whose lengths are lognormal with σ about 1, cut at 384 tokens; made once, and kept."""
    folder = installation.home / "policies" / "long-tail"
    if not folder.exists():
        shutil.copytree(made(), folder)
        installation.api.post("/policies", {"name": "Long tail", "slug": "long-tail", "path": str(folder)})
    return folder


def made() -> Path:
    """The policy by the present starter code, in the cache."""
    code = hashlib.sha256()
    for file in sorted((ROOT / "trainer_core" / "starter").glob("*.py")):
        code.update(file.read_bytes())
    kept = Path.home() / ".cache" / "dressage" / f"bench-long-tail-{code.hexdigest()[:12]}"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as new:
            command = [sys.executable, "-m", "trainer_core.starter", "--long-tail", "--out", f"{new}/policy"]
            subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
            Path(new, "policy").rename(kept)
    return kept


def measure(installation: Installation) -> list[Figure]:
    """Per mode: tokens per second, the share of the planner's bound, and how busy the engine was."""
    folder = policy(installation)
    figures: list[Figure] = []
    speeds: dict[str, float] = {}
    for name, mode in MODES.items():
        document = run_spec(installation, mode)
        spec = RunSpec.model_validate(document)
        steps = train(installation, f"long tail, {name}", document).metrics[WARM : STEPS - LAST]
        bound = plan(spec, 2, measure_rates(spec, folder, PROMPTS, lambda text: None)).current
        seconds = sum(step["timing_s/step"] for step in steps)
        tokens = sum(step["perf/throughput"] * step["timing_s/step"] for step in steps)
        speeds[name] = tokens / seconds
        busy = sum(step.get("perf/engine_busy_share", 0.0) * step["timing_s/step"] for step in steps) / seconds
        overlaps = name in ("async", "in_flight")
        figures += [
            Figure(f"{name}: throughput", speeds[name], "tokens/s"),
            Figure(f"{name}: planner's bound", bound.tokens_per_s, "tokens/s"),
            Figure(f"{name}: share of the bound", speeds[name] / bound.tokens_per_s, "", "≥ 0.90" if overlaps else ""),
            Figure(f"{name}: engine busy", busy, "", "≥ 0.95" if overlaps else ""),
        ]
    return [*figures, Figure("async / sync", speeds["async"] / speeds["sync"])]


def run_spec(installation: Installation, mode: dict[str, Any]) -> dict[str, Any]:
    """A learning rate of almost nothing keeps the lengths as they are; without filters the whole batch is learned."""
    return demo_spec(
        installation,
        STEPS,
        policy__base="long-tail",
        data=DATA,
        filters=[],
        diagnosis={"every_steps": 0},
        optimizer__learning_rate=1e-12,
        rollout__mode=mode,
        rollout__max_tokens=LENGTHS["max_tokens"],
        rollout__engine=ENGINE,
    )
