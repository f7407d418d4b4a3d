"""Planted faults of weight updates and long rows of clean ones: what the probe finds, by which of its two questions.

``python -m tests.bench.probe_faults --updates 1000`` prints the tables of docs/reliability.md: for each number format,
on a soft and a sharp policy (logits sharpened tenfold), every fault at the first update of a real learner in front of a
real engine, and then so many clean updates; and the same for mixtures with faults of single experts. Each row runs in a
process of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from torch import Tensor

    from worker.learner.weights import WeightBundle

STORED = "bfloat16-policy"
"""The weights themselves in bfloat16, with float32 masters."""
FORMATS = ("float32", "bfloat16", "fp8", STORED)
SHARPENED = (1.0, 10.0)
DENSE = "qwen3"
MIXTURES = ("qwen3_moe", "mixtral", "gpt_oss", "deepseek_v3")
Row = tuple[str, str, float]
"""Architecture, number format, factor of the logits."""
ROWS: tuple[Row, ...] = (
    *((DENSE, kind, sharpen) for kind in FORMATS for sharpen in SHARPENED),
    *((name, kind, 1.0) for name in MIXTURES for kind in ("float32", STORED)),
)
LAYER = "model.layers.1."
HEAD, MATRIX, OTHER = "lm_head.weight", f"{LAYER}mlp.up_proj.weight", f"{LAYER}mlp.gate_proj.weight"
LENGTH = 256
Tensors = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong between the learner's weights and the engine's kernels."""

    name: str
    change: "Callable[[Tensors, Tensors], Tensors]"
    """(version before, new version) → what the engine is made to hold."""


def _stale(names: "Callable[[str], bool]") -> "Callable[[Tensors, Tensors], Tensors]":
    return lambda old, new: {name: old[name] if names(name) else tensor for name, tensor in new.items()}


def _one(change: "Callable[[Tensor, Tensor], Tensor]") -> "Callable[[Tensors, Tensors], Tensors]":
    return lambda old, new: {**new, MATRIX: change(old[MATRIX], new[MATRIX])}


def _half(old: "Tensor", new: "Tensor") -> "Tensor":
    import torch

    rows = len(new) // 2
    return torch.cat([new[:rows], old[rows:]])


def _through(kind: str, bits: bool) -> "Callable[[Tensor, Tensor], Tensor]":
    """Rounded to a number type; ``bits``: its bits are read as bfloat16."""
    import torch

    def change(_: "Tensor", new: "Tensor") -> "Tensor":
        held = new.float().to(getattr(torch, kind))
        return (held.view(torch.bfloat16) if bits else held).float().nan_to_num().to(new.dtype)

    return change


def faults() -> list[Fault]:
    """The faults of the table."""
    return [
        Fault("stale head", _stale(lambda name: name == HEAD)),
        Fault("a layer not loaded", _stale(lambda name: name.startswith(LAYER))),
        Fault("two tensors swapped", lambda _, new: {**new, MATRIX: new[OTHER], OTHER: new[MATRIX]}),
        Fault("a tensor half written", _one(_half)),
        Fault("last version served", _stale(lambda _: True)),
        Fault("float16 read as bfloat16", _one(_through("float16", bits=True))),
        Fault("rounded to float8", _one(_through("float8_e4m3fn", bits=False))),
        Fault("a tensor scaled by 1 %", _one(lambda _, new: new * 1.01)),
    ]


def faults_of(name: str) -> list[Fault]:
    """The faults of an architecture: single tensors of a dense one, single experts of a mixture."""
    if name == DENSE:
        return faults()
    from tests.worker.engine import expert_faults

    return [Fault(fault.name, fault.change) for fault in expert_faults.faults()]


class Pair:
    """A learner and an engine of one policy in this process."""

    def __init__(self, folder: Path, row: Row, rate: float) -> None:
        os.environ["LOCAL_RANK"] = "0"
        from tests.trainer_core.update.making import make_spec
        from trainer_core.starter.architectures import make_tiny
        from trainer_core.update.learner import Learner
        from worker.engine import EngineConfig, Fp8Config, InferenceEngine
        from worker.learner.probe.evidence import Witness

        name, kind, sharpen = row
        dtype = "float32" if kind == "float32" else "bfloat16"
        head: Literal["model", "float32"] = "model" if kind == "float32" else "float32"
        make_tiny(name, folder, tied=False, sharpen=sharpen)
        settings: dict[str, Any] = {"max_model_len": LENGTH, "dtype": dtype, "lm_head_dtype": head}
        if kind == "fp8":
            settings["quantization"] = {"type": "fp8"}
        precision: dict[str, Any] = {} if kind == "float32" else {"precision": {"type": "unified"}}
        if kind == STORED:
            precision = {"policy": {"base": "tiny", "dtype": "bfloat16"}}
        engine = {"group_size": 4, "max_tokens": 60, "engine": settings}
        self.spec = make_spec(optimizer={"learning_rate": rate}, rollout=engine, **precision)
        self.engine: InferenceEngine = InferenceEngine(
            EngineConfig(
                str(folder),
                dtype=dtype,
                max_model_len=LENGTH,
                max_num_seqs=32,
                max_num_batched_tokens=512,
                kv_cache_gib=0.05,
                lm_head_dtype=head,
                fp8=Fp8Config("block") if kind == "fp8" else None,
            )
        )
        self.learner = Learner(folder, self.spec)
        self.witness, self.step = Witness(), 0
        self.text = self._text()
        self.bundle = self.publish()

    def publish(self) -> "WeightBundle":
        from worker.learner.weights import bundle

        return bundle(self.learner, self.text, witness=self.witness)

    def learn(self) -> "WeightBundle":
        """One update on made-up rewards; the new weights."""
        from tests.trainer_core.update.making import make_groups

        self.step += 1
        groups = make_groups(self.step)
        for trajectory in (one for group in groups for one in group.trajectories):
            trajectory.token_ids %= self.learner.vocab_size
            trajectory.prompt_ids %= self.learner.vocab_size
        self.learner.update(groups, self.spec, self.step)
        self.bundle = self.publish()
        return self.bundle

    def _text(self) -> list[list[int]]:
        import numpy as np

        from worker.learner.probe.sequences import probe_text

        rng = np.random.default_rng(0)
        prompts = [rng.integers(3, self.learner.vocab_size, 20).astype(np.int32) for _ in range(8)]
        return probe_text(prompts, self._proceed, LENGTH, seed=0)

    def _proceed(self, begun: list[list[int]], tokens: int) -> list[list[int]]:
        from worker.engine import Request, Sampling

        for number, prompt in enumerate(begun):
            sampling = Sampling(1.0, max_tokens=tokens, seed=number)
            self.engine.submit(Request(str(number), tuple(prompt), sampling))
        done: dict[str, list[int]] = {}
        while self.engine.has_unfinished:
            done |= {one.request_id: list(one.token_ids) for one in self.engine.step()}
        return [done[str(number)] for number in range(len(begun))]


def find(pair: Pair, fault: Fault, old: Tensors, floor: Any) -> dict[str, Any]:
    """Evidence of one fault in the newest version: by the kernels' weights, by the text, by the former tolerance."""
    import numpy as np

    from worker.learner.probe.readback import compare
    from worker.learner.probe.verdict import differences, grown, text_findings

    bundle = pair.bundle
    pair.engine.load_weights(bundle.version, fault.change(old, dict(bundle.unpacked())))
    faulty = compare(pair.engine.read_weights(bundle.evidence.sample.columns), bundle.evidence)
    found = differences(pair.engine.score(bundle.probe_sequences), bundle.probe_logprobs)
    said = text_findings(found, grown(floor, bundle.evidence.rounding), bundle.evidence, bundle.probe_logprobs)
    return {
        "fault": fault.name,
        "tensors": len(faulty),
        "text": [_statistic(sentence) for sentence in said],
        "former": bool(np.abs(found).max() > pair.spec.rollout.engine.tolerance),
    }


def _statistic(sentence: str) -> str:
    if sentence.startswith("one token"):
        return "quantile"
    return "old version" if "lack" in sentence else "mean"


@contextmanager
def _pair(row: Row, rate: float) -> Iterator[Pair]:
    with tempfile.TemporaryDirectory() as folder:
        pair = Pair(Path(folder), row, rate)
        yield pair
        pair.engine.close()


def measure(row: Row, rate: float, updates: int) -> dict[str, Any]:
    """One row: all faults at the first update, then clean updates."""
    from worker.learner.probe.check import apply_and_probe, probe
    from worker.learner.probe.errors import ProbeFailed

    with _pair(row, rate) as pair:
        tolerance = pair.spec.rollout.engine.tolerance
        floor = apply_and_probe(pair.engine, pair.bundle, tolerance).floor
        old = {name: tensor.clone() for name, tensor in pair.bundle.unpacked().items()}
        pair.learn()
        found = [find(pair, fault, old, floor) for fault in faults_of(row[0])]
        apply_and_probe(pair.engine, pair.bundle, tolerance, floor)
        alarms, former, ratios, seconds = [], 0, [0.0], [0.0]
        for _ in range(updates):
            bundle = pair.learn()
            pair.engine.load_weights(bundle.version, bundle.unpacked())
            try:
                passed = probe(pair.engine, bundle, tolerance, floor)
            except ProbeFailed as error:
                alarms.append(str(error))
                continue
            ratios.append(max(passed.mean / passed.floor.mean, passed.quantile / passed.floor.quantile))
            seconds.append(passed.seconds)
            former += passed.largest > tolerance
        return {
            "policy": row[0],
            "format": row[1],
            "sharpen": row[2],
            "read_share": pair.engine.read_share,
            "rate": rate,
            "floor": floor.mean,
            "faults": found,
            "updates": updates,
            "alarms": alarms,
            "former_alarms": former,
            "largest_ratio": max(ratios),
            "probe_ms": median(seconds[1:] or seconds) * 1000,
        }


def main() -> None:
    """Run every row in a process of its own, and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--updates", type=int, default=1000, help="clean updates in all, spread over the rows")
    parser.add_argument("--rate", type=float, default=1e-6, help="learning rate")
    parser.add_argument("--policies", nargs="+", default=[DENSE, *MIXTURES], help="architectures (default: all)")
    parser.add_argument("--row", nargs=3, metavar=("POLICY", "FORMAT", "SHARPEN"), help="one row, in this process")
    asked = parser.parse_args()
    if asked.row:
        name, kind, sharpen = asked.row
        print("ROW", json.dumps(measure((name, kind, float(sharpen)), asked.rate, asked.updates)), flush=True)
        return
    rows = [row for row in ROWS if row[0] in asked.policies]
    each = -(-asked.updates // len(rows))
    for row in rows:
        options = ["--row", *map(str, row), "--updates", str(each), "--rate", str(asked.rate)]
        command = [sys.executable, "-m", "tests.bench.probe_faults", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        told = [line for line in done.stdout.splitlines() if line.startswith("ROW ")]
        print(told[0].removeprefix("ROW ") if told else done.stderr[-2000:], flush=True)


if __name__ == "__main__":
    main()
