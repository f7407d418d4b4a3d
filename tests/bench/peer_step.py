"""The optimisation step of TRL's GRPOTrainer on the tokens of ours, in its own environment."""

import json
import os
import subprocess
from pathlib import Path

from tests.support.installation import ROOT
from trainer_core.episodes import Trajectory

PEER = ROOT / "tests" / "bench" / "peer_trl"


def trl_seconds(folder: Path, trajectories: list[Trajectory], group_size: int, rows: int, rounds: int) -> float | None:
    """Median processor time of a step after the first; None, with a line printed, where TRL cannot run.

    Args:
        folder: the policy.
        trajectories: whole groups, one after another.
        group_size: completions of one prompt.
        rows: completions of one micro-batch; must divide their number.
        rounds: steps that are measured.
    """
    subprocess.run([str(PEER / "setup.sh")], check=True)
    tokens = folder / "tokens.json"
    tokens.write_text(
        json.dumps(
            [
                {"prompt": t.prompt_ids.tolist(), "completion": t.token_ids.tolist(), "advantage": t.advantage}
                for t in trajectories
            ]
        )
    )
    arguments = {"policy": folder, "tokenizer": ROOT / "demo" / "starter-policy", "tokens": tokens}
    numbers = {"group-size": group_size, "rows": rows, "steps": rounds + 1}
    flags = [part for key, value in (arguments | numbers).items() for part in (f"--{key}", str(value))]
    command = [str(ROOT / ".venv-trl" / "bin" / "python"), str(PEER / "step.py"), *flags]
    # Our learner has called itself a rank; TRL would wait for the others.
    inherited = {name: value for name, value in os.environ.items() if name != "LOCAL_RANK"}
    environment = {**inherited, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ended.returncode:
        print(f"  TRL failed: {ended.stderr.strip().splitlines()[-1]}", flush=True)
        return None
    taken: list[float] = sorted(json.loads(ended.stdout.splitlines()[-1])[1:])
    return taken[len(taken) // 2]
