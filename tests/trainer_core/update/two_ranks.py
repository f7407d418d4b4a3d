"""One rank of two, in a process of its own: loads a policy into shards, and tells what it held meanwhile."""

import gc
import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.update.learner import Learner
from trainer_core.update.model.policy import load_policy
from trainer_core.update.model.shards import ShardedWeights
from trainer_core.update.model.storage import stored
from trainer_core.update.optimization.engine import init_process_group
from trainer_core.update.saving import shards
from trainer_core.update.saving.integrity import CheckpointError

SMOOTH = {"learning_rate": 1e-3, "epsilon": 1e-3}
PARTS: dict[str, Any] = {
    "optimizer": SMOOTH,
    "kl": {"coefficient": 0.1},
    "schedule": {"steps": 10, "prompts_per_step": 8, "updates_per_step": 2, "epochs": 2},
}
SEQUENCES = [[3, 9, 27, 41], [5, 6, 7]]


def anonymous() -> int:
    """Bytes of this process that are in no file."""
    found = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found.group(1)) * 1024


@contextmanager
def highest() -> Iterator[list[int]]:
    """The most bytes that were taken meanwhile, over those of the beginning."""
    before, seen, done = anonymous(), [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.001):
            seen[0] = max(seen[0], anonymous() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        done.set()
        watcher.join()
    seen[0] = max(seen[0], anonymous() - before)


def gathered(learner: Learner) -> list[int]:
    """Numbers of matrices that this rank holds whole, for each layer that is asked for, and afterwards."""
    matrices = [one for one in learner._parts.model.parameters() if len(one.ds_shape) > 1]
    counts = [sum(one.numel() for one in matrices) for _ in learner.layers()]
    return [*counts, sum(one.numel() for one in matrices)]


def gathered_to_save(learner: Learner) -> int:
    """Most numbers of matrices that this rank holds whole while a checkpoint is written."""
    matrices = [one for one in learner._parts.model.parameters() if len(one.ds_shape) > 1]
    return max(sum(one.numel() for one in matrices) for _ in learner._engine.masters_by_layer())


def refused(learner: Learner, rank: int, folder: Path, *, elsewhere: Path | None = None) -> str:
    """Words in which a checkpoint fails whose second rank cannot write its part, or writes it ``elsewhere``."""
    written, flushed = shards.save_file, shards.sync

    def write(tensors: Any, path: Path, **others: Any) -> None:
        if rank == 1 and path.name.startswith("optimizer"):
            if elsewhere is None:
                raise OSError(28, "No space left on device", str(path))
            path = elsewhere / path.name
        written(tensors, path, **others)

    shards.save_file = write
    shards.sync = lambda path: None if elsewhere and rank else flushed(path)
    try:
        learner.save(folder)
    except (OSError, CheckpointError) as error:
        return str(error)
    finally:
        shards.save_file, shards.sync = written, flushed
    return "nothing"


def resumed(tiny: Path, rank: int, folder: Path) -> dict[str, Any]:
    """Whether a learner whose weights the ranks cannot share alike, a critic's bias, goes on as it was saved."""
    shared = {"learner_ranks": 2, "zero_stage": 3, "max_tokens_per_microbatch": 128}
    spec = make_spec(advantage={"type": "gae"}, critic={"type": "head"}, parallelism=shared)
    learner = Learner(tiny, spec, rank=rank, world_size=2)
    learner.update(make_groups(1), spec, 1)
    before = learner._engine.weights() | learner._engine.moments()
    learner.save(folder, {"kept": 1})
    torch.distributed.barrier()
    learner.update(make_groups(2), spec, 2)
    failed = refused(learner, rank, folder)
    apart = refused(learner, rank, folder, elsewhere=folder.parent)
    learner.load(folder)
    after = learner._engine.weights() | learner._engine.moments()
    return {
        "same": all(torch.equal(one, after[name]) for name, one in before.items()),
        "state": before if rank == 0 else {},
        "refused": failed,
        "apart": apart,
        "most": gathered_to_save(learner),
    }


def resumed_adapter(tiny: Path, rank: int, folder: Path) -> dict[str, Any]:
    """Whether an adapter in shards goes on as it was saved, and the weights with it that engines would get."""
    shared = {"learner_ranks": 2, "zero_stage": 3, "max_tokens_per_microbatch": 128}
    policy = {"base": "tiny", "adapter": {"type": "lora", "rank": 4}}
    spec = make_spec(policy=policy, parallelism=shared)
    learner = Learner(tiny, spec, rank=rank, world_size=2)
    learner.update(make_groups(1), spec, 1)
    before = learner._engine.weights() | learner._engine.moments()
    merged = {name: torch.from_numpy(one) for name, one in learner.weights().items()}
    learner.save(folder)
    torch.distributed.barrier()
    learner.update(make_groups(2), spec, 2)
    learner.load(folder)
    after = learner._engine.weights() | learner._engine.moments()
    return {"same": all(torch.equal(one, after[name]) for name, one in before.items()), "merged": merged}


def main(rank: int, large: Path, tiny: Path, out: Path) -> None:
    torch.set_num_threads(1)
    init_process_group(rank, 2, f"file://{out / 'rendezvous'}", torch.device("cpu"))
    placement = ShardedWeights(torch.device("cpu"))
    with highest() as loaded:
        model = load_policy(large, placement=placement)
    held = sum(one.ds_tensor.numel() for one in model.parameters())
    stored(model, torch.bfloat16, placement)
    kinds = {one.ds_tensor.dtype for one in model.parameters()}
    del model
    gc.collect()  # what the shards hang together by would be freed while the next is measured
    with highest() as whole:
        model = load_policy(large)
    del model

    shared = {"learner_ranks": 2, "zero_stage": 3, "max_tokens_per_microbatch": 128}
    spec = make_spec(**PARTS, parallelism=shared)
    learner = Learner(tiny, spec, rank=rank, world_size=2)
    scores = learner.score(SEQUENCES)
    counts = gathered(learner)
    metrics = [learner.update(make_groups(step, groups=9), spec, step) for step in (1, 2)]
    np.savez(out / f"{rank}.npz", **learner.weights())
    torch.save(
        {
            "loaded": loaded[0],
            "whole": whole[0],
            "held": held,
            "kinds": [str(kind) for kind in kinds],
            "scores": scores,
            "counts": counts,
            "metrics": metrics,
            "resumed": resumed(tiny, rank, out / "checkpoint"),
            "adapter": resumed_adapter(tiny, rank, out / "adapted"),
        },
        out / f"{rank}.pt",
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), *(Path(one) for one in sys.argv[2:5]))
    sys.stdout.flush()
    os._exit(0)
