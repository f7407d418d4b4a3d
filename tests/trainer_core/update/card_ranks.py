"""A learner rank in a process of its own, whose group has a backend that takes a card's tensors alone, as NCCL does."""

import os
from datetime import timedelta
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.episodes import Verdict
from trainer_core.update import collectives
from trainer_core.update.learner import Learner
from trainer_core.update.totals import Totals

STAND_IN = "card"
PARTS = {
    "advantage": {"type": "gae"},
    "critic": {"type": "head"},
    "filters": [{"type": "high_entropy", "share": 0.5}],
    "optimizer": {"learning_rate": 1e-3, "epsilon": 1e-3, "ess_scaling": "sqrt"},
    "parallelism": {"learner_ranks": 2, "zero_stage": 2, "max_tokens_per_microbatch": 128},
}
"""A spec under which an update makes every kind of collective call that there is."""


def run(rank: int, meeting: str, policy: str, folder: str, answers: "Queue[tuple[int, Any]]") -> None:
    """Join as a rank on a GPU would, then train, save and load. Answers with (rank, outcome or the error's words)."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    try:
        answers.put((rank, _outcome(rank, meeting, Path(policy), Path(folder))))
    except Exception as error:
        answers.put((rank, f"{type(error).__name__}: {error}"))
        raise


def _make(store: dist.Store, rank: int, size: int, timeout: timedelta) -> dist.ProcessGroup:
    return dist.ProcessGroupGloo(store, rank, size, timeout)


def _outcome(rank: int, meeting: str, policy: Path, folder: Path) -> dict[str, Any]:
    dist.Backend.register_backend(STAND_IN, _make, devices=["cuda"])
    collectives.ACCELERATORS["cuda"] = STAND_IN
    collectives.join(rank, 2, f"file://{meeting}", torch.device("cuda"))
    alone = dist.new_group(backend=f"cuda:{STAND_IN}")
    try:
        dist.all_reduce(torch.ones(1), group=alone)
        refused = ""
    except RuntimeError as error:
        refused = str(error)
    sums, totals = torch.tensor([1 + rank]), Totals()
    collectives.add_up(sums)
    totals.add_share("loss", float(rank))
    spec = make_spec(**PARTS)
    learner = Learner(policy, spec, rank=rank, world_size=2)
    groups = make_groups(1, groups=5)
    for index, trajectory in enumerate(one for group in groups for one in group.trajectories):
        trajectory.verdict = Verdict(float(index % 2))
    metrics = learner.update(groups, spec, 1)
    state = torch.get_rng_state()
    learner.save(folder, {"kept": 1})
    torch.manual_seed(7)
    dist.barrier()  # the folder is there
    extra = learner.load(folder)
    return {
        "refused": refused,
        "rank": collectives.rank(),
        "largest": collectives.largest(10 + rank),
        "gathered": collectives.gather({"rank": rank}),
        "tensors": [one.tolist() for one in collectives.gather_tensors(torch.tensor([rank]))],
        "sums": sums.tolist(),
        "totals": totals.values(),
        "metrics": metrics,
        "extra": extra,
        "random": torch.equal(torch.get_rng_state(), state),
    }
