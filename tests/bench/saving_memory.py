"""Memory that each of two ranks takes while it writes a checkpoint: in parts, and as one that gathers the whole.

``python -m tests.bench saving`` prints both.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.report import Figure

ROOT = Path(__file__).resolve().parents[2]


def measure() -> list[Figure]:
    """Peaks of both ranks, and the numbers that a rank holds anyway."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MALLOC_MMAP_THRESHOLD_": "65536", "PYTHONPATH": str(ROOT)}
    figures = []
    with tempfile.TemporaryDirectory() as name:
        started = [
            subprocess.Popen(
                [sys.executable, "-m", "tests.bench.saving_memory", str(rank), name],
                env=environment,
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
            )
            for rank in range(2)
        ]
        answers = [process.communicate()[0].splitlines()[-1].split() for process in started]
    for rank, (parameters, parts, whole) in enumerate(answers):
        figures.append(Figure(f"rank {rank}: parameters of the policy", int(parameters) / 1e6, "M"))
        figures.append(Figure(f"rank {rank}: taken to save in parts", int(parts) / 1e6, "MB"))
        figures.append(Figure(f"rank {rank}: taken to save what is gathered whole", int(whole) / 1e6, "MB"))
    return figures


def _in_process(rank: int, folder: Path) -> str:
    import torch
    import torch.distributed as dist
    from transformers import LlamaConfig, LlamaForCausalLM

    from tests.trainer_core.update.making import make_spec
    from tests.trainer_core.update.two_ranks import highest
    from trainer_core.update.learner import Learner
    from trainer_core.update.model.shards import whole_shape
    from trainer_core.update.optimization.engine import UpdateEngine, init_process_group

    torch.set_num_threads(1)
    init_process_group(rank, 2, f"file://{folder}/meeting", torch.device("cpu"))
    policy = folder / "policy"
    if rank == 0:
        sizes = {"hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 11, "vocab_size": 8192}
        config = LlamaConfig(num_attention_heads=8, num_key_value_heads=8, tie_word_embeddings=True, **sizes)
        LlamaForCausalLM(config).save_pretrained(policy)
    dist.barrier()
    spec = make_spec(parallelism={"learner_ranks": 2, "zero_stage": 3})
    learner = Learner(policy, spec, rank=rank, world_size=2)
    count = sum(torch.Size(whole_shape(one)).numel() for one in learner._parts.model.parameters())
    peaks = []
    for shares in (True, False):
        if not shares:
            UpdateEngine.shares_weights = property(lambda _: False)  # type: ignore[assignment,method-assign]
        dist.barrier()
        with highest() as seen:
            learner.save(folder / "checkpoint")
        peaks.append(seen[0])
    dist.barrier()
    return f"{count} {peaks[0]} {peaks[1]}"


if __name__ == "__main__":
    print(_in_process(int(sys.argv[1]), Path(sys.argv[2])))
