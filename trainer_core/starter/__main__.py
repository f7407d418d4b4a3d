"""``python -m trainer_core.starter --out DIR``: build the starter policy, in under a minute on one core."""

import argparse
import sys
from functools import partial
from pathlib import Path

import torch
from transformers.utils import logging

from trainer_core.starter.make import make_starter
from trainer_core.starter.plans import full_plan, long_tail_plan, quick, teacher_plan


def main() -> None:
    """Parse the command line and build the policy; exit with a one-sentence message if that is not possible."""
    parser = argparse.ArgumentParser(prog="python -m trainer_core.starter", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to create; must not exist yet")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same policy (default: 0)")
    parser.add_argument("--quick", action="store_true", help="a few steps only: tests the code path, not the policy")
    parser.add_argument(
        "--long-tail", action="store_true", help="long-tailed lengths, up to 384 tokens (three minutes)"
    )
    parser.add_argument("--teacher", action="store_true", help="a policy that always thinks, as a teacher")
    parser.add_argument("--hybrid", action="store_true", help="lightning attention and experts (three minutes)")
    arguments = parser.parse_args()

    torch.set_num_threads(1)  # matrices this small do not benefit from more threads
    logging.disable_progress_bar()
    if arguments.hybrid and arguments.long_tail:
        parser.error("the hybrid policy was never warmed up with long tails: remove --long-tail or --hybrid")
    if arguments.teacher and (arguments.hybrid or arguments.long_tail):
        parser.error("the teacher is for the plain starter policy: remove --hybrid and --long-tail")
    plan = long_tail_plan() if arguments.long_tail else teacher_plan() if arguments.teacher else full_plan()
    if arguments.quick:
        plan = quick(plan)
    names = ("hybrid", "long-tail", "teacher", "quick")
    chosen = {name: getattr(arguments, name.replace("-", "_")) for name in names}
    flags = "".join(f" --{name}" for name, on in chosen.items() if on)
    command = f"python -m trainer_core.starter --out DIR --seed {arguments.seed}{flags}"
    try:
        say = partial(print, flush=True)
        make_starter(arguments.out, plan, arguments.seed, command, say, hybrid=arguments.hybrid)
    except OSError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
