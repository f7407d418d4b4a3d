"""A whole run of one architecture: the controller on Ray, in bfloat16 and in flight, killed, resumed, exported."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from tests.architectures.cases import KILLED_AFTER, Case
from tests.architectures.cases import WHOLE_STEPS as STEPS
from tests.architectures.loop import difference, draw_texts, read_export, score_export
from tests.architectures.seen import Difference, bounds, rounded
from tests.support.installation import wait_until
from tests.worker.loop.platform_double import CLUSTER_SECRET, PlatformDouble
from trainer_core.spec import RunSpec
from trainer_core.starter.architectures import ARCHITECTURES, WINDOW, make_tiny
from trainer_core.update.learner import Learner

ENDS = ("succeeded", "failed", "cancelled")
REWARD = {
    "components": [{"name": "like", "grader": {"type": "text_similarity", "reference": "The sum of both is even."}}]
}
"""A reward that tells the answers of a random policy apart."""
PROMPTS = [{"prompt": f"{a}+{b}=", "answer": str(a + b)} for a in range(2, 10) for b in (1, 5)]


@dataclass(slots=True)
class WholeRun:
    """What a whole run has shown."""

    architecture: str
    steps: list[list[int]] = field(default_factory=list)
    """Steps that each attempt has told of."""
    probe: float | None = None
    """Largest ``probe/max_abs_diff`` of all steps, in nats."""
    k3_kl: float | None = None
    """Largest ``rollout_corr/k3_kl`` of all steps."""
    export: Difference | None = None
    """transformers and the learner, both in float32 from the last checkpoint."""
    going_on: Difference | None = None
    """transformers and the learner of the run, both in bfloat16 from the last checkpoint."""
    seconds: float = 0.0
    failure: str = ""
    """Reason for which an attempt has failed, or the error that ended it."""

    def complaints(self) -> list[str]:
        """Reasons why the run does not count as working."""
        if self.failure:
            return [self.failure]
        found: list[str] = []
        if self.steps != [list(range(1, KILLED_AFTER + 1)), list(range(KILLED_AFTER + 1, STEPS + 1))]:
            found.append(f"steps of both attempts: {self.steps}")
        for name, one, kind in (("export", self.export, "float32"), ("going on", self.going_on, "bfloat16")):
            if one is None or not one.within(bounds(_case(self.architecture, kind))):
                found.append(f"{name}: {one}")
        if self.probe is None or self.k3_kl is None:
            found.append("no probe or no mismatch was told")
        return found

    def as_json(self) -> dict[str, Any]:
        """The outcome with figures of two digits."""
        found = rounded(asdict(self) | {"steps": None}) | {"steps": self.steps, "complaints": self.complaints()}
        assert isinstance(found, dict)
        return found | {"seconds": round(self.seconds)}


def run_whole(architecture: str, folder: Path) -> WholeRun:
    """Train a tiny policy of an architecture on the Ray that this process is connected to.

    Args:
        architecture: a key of ``ARCHITECTURES``.
        folder: empty; the policy and the run's checkpoints go there.
    """
    seen, started = WholeRun(architecture), time.monotonic()
    policy = make_tiny(architecture, folder / "policy", dtype="bfloat16")
    try:
        saved = _attempt(seen, folder, policy, 1, None)
        final = _attempt(seen, folder, policy, 2, saved)
        _read(seen, policy, Path(final["path"]))
    except Exception as error:
        seen.failure = f"{type(error).__name__}: {error}"
    seen.seconds = time.monotonic() - started
    return seen


def document(dtype: str = "bfloat16") -> dict[str, Any]:
    """The spec of the run."""
    return {
        "policy": {"base": "tiny", "dtype": dtype},
        "data": {"sources": [{"name": "sums", "dataset": "sums@1", "format": {"chat": True}}]},
        "reward": {"definition": "like@1"},
        "rollout": {
            "group_size": 4,
            "max_tokens": 2 * WINDOW + 8,  # windows bite
            "mode": {"type": "in_flight", "max_staleness": 3},
            "engine": {
                "dtype": dtype,
                "lm_head_dtype": "float32",
                "max_model_len": 256,
                "max_num_seqs": 16,
                "kv_cache_gib": 0.05,
            },
        },
        "optimizer": {"learning_rate": 1e-3},
        "parallelism": {"max_tokens_per_microbatch": 2048},
        "schedule": {"steps": STEPS, "prompts_per_step": 2},
        "checkpoint": {"every_steps": KILLED_AFTER},
    }


def _attempt(seen: WholeRun, folder: Path, policy: Path, attempt: int, saved: dict[str, Any] | None) -> dict[str, Any]:
    """One attempt from its message to its end; the first is killed behind its checkpoint. Returns the last one."""
    from worker.tasks import start, stop

    platform, run_id = PlatformDouble(), f"whole-{seen.architecture}"
    resume = saved and {key: saved[key] for key in ("step", "path", "manifest_sha256")}
    platform.bundle = {
        "run_id": run_id,
        "attempt": attempt,
        "spec": document(),
        "revision": 0,
        "policy": {"name": "tiny", "path": str(policy)},
        "reward": {"ref": "like@1", "definition": REWARD},
        "datasets": {"sums@1": platform.add_dataset("sums@1", PROMPTS)},
        "resume": resume,
        "run_dir": str(folder / "run"),
        "lease_s": 15,
    }
    if saved is None:
        platform.stop_after = {KILLED_AFTER: "paused"}  # so that no third step is told of before the kill
    try:
        with patch.dict(os.environ, {"DRESSAGE_CLUSTER_SECRET": CLUSTER_SECRET}):
            start(run_id, attempt, platform.url)
        wanted = KILLED_AFTER if saved is None else STEPS
        platform.wait(
            lambda: (
                platform.states()[-1:] in [[end] for end in ENDS]
                or (saved is None and _checkpoints(platform, wanted) and KILLED_AFTER in platform.steps())
            )
        )
        if platform.states()[-1] == "failed":
            raise RuntimeError(str(platform.of("state")[-1]["data"].get("reason")))
        found = _checkpoints(platform, wanted)[-1]
    finally:
        stop(run_id, attempt)
        _until_gone(run_id)
        platform.close()
    _tell(seen, platform)
    return found


def _checkpoints(platform: PlatformDouble, step: int) -> list[dict[str, Any]]:
    return [event["data"] | {"step": step} for event in platform.of("checkpoint") if event["step"] == step]


def _tell(seen: WholeRun, platform: PlatformDouble) -> None:
    seen.steps.append(platform.steps())
    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    for name, key in (("probe", "probe/max_abs_diff"), ("k3_kl", "rollout_corr/k3_kl")):
        told = [one[key] for one in metrics if key in one]
        before = getattr(seen, name)
        setattr(seen, name, max([*told, *([] if before is None else [before])], default=None))


def _until_gone(run_id: str) -> None:
    import ray

    def left() -> list[str]:
        names = [entry["name"] for entry in ray.util.list_named_actors(all_namespaces=True)]
        return [name for name in names if name.startswith(f"run-{run_id}-")]

    wait_until(lambda: not left(), 60, lambda: f"left: {left()}")


def _read(seen: WholeRun, policy: Path, checkpoint: Path) -> None:
    """Let transformers read the last checkpoint, and compare its scores with the learner's."""
    texts = draw_texts(np.random.default_rng(0))
    plain = Learner(checkpoint, RunSpec.model_validate(document("float32")))
    seen.export = difference(score_export(read_export(checkpoint, "float32"), texts), plain.score(texts))
    resumed = Learner(policy, RunSpec.model_validate(document()))
    resumed.load(checkpoint)
    seen.going_on = difference(score_export(read_export(checkpoint, "bfloat16"), texts), resumed.score(texts))


def _case(architecture: str, kind: str) -> Case:
    """The case of the matrix by whose bounds a comparison is judged."""
    return Case(architecture, ARCHITECTURES[architecture].heads[0], kind, "in_flight")  # type: ignore[arg-type]
