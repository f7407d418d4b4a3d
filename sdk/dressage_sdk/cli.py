"""The command ``dressage``: runs of a platform in a terminal.

Results are printed on standard output, all else on standard error. Exit status: 0 if it worked, 1 if the platform
refused or did not answer, 2 if the command itself or the environment is wrong, 130 after Ctrl-C.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import islice

from dressage_sdk.client import TOKEN, URL, Client
from dressage_sdk.errors import DressageError
from dressage_sdk.models import Run, RunDetails
from dressage_sdk.runs import MAX_PAGE
from dressage_sdk.version import VERSION

USUAL_LIMIT = 20


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: words after the command's name; by default those of the process.

    Returns:
        The exit status.
    """
    options = _parser().parse_args(arguments)
    try:
        client = Client(options.url)
    except DressageError as error:
        return _fail(error, 2)
    try:
        with client:
            if options.action == "show":
                _show(client, options.id, options.json)
            else:
                _list(client, options.state, options.limit, options.json)
        sys.stdout.flush()  # here, where a closed pipe is no fault
    except DressageError as error:
        return _fail(error, 1)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader has seen enough, such as `head`
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dressage",
        description="Runs of a Dressage platform.",
        epilog=f"The environment variables {URL} and {TOKEN} name the platform and the API token.",
    )
    parser.add_argument("--url", metavar="URL", help=f"address of the platform (default: {URL})")
    parser.add_argument("--version", action="version", version=f"dressage-sdk {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    runs = commands.add_parser("runs", help="list runs, or show one", description="List the team's runs, newest first.")
    runs.add_argument("--state", metavar="STATE[,STATE…]", help="only runs in these states, such as running,queued")
    runs.add_argument(
        "--limit", type=_count, default=USUAL_LIMIT, metavar="N", help=f"most runs to list (default: {USUAL_LIMIT})"
    )
    runs.add_argument("--json", action="store_true", help="print JSON")
    actions = runs.add_subparsers(dest="action", metavar="show ID")
    show = actions.add_parser("show", help="show one run", description="Show one run.")
    show.add_argument("id", metavar="ID", help="id of the run")
    # Without a default: `dressage runs --json show ID` has already set it.
    show.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON, with the spec")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of runs")
    return int(text)


def _list(client: Client, state: str | None, limit: int, as_json: bool) -> None:
    found = list(islice(client.runs.list(state=state, page_size=min(limit + 1, MAX_PAGE)), limit + 1))
    shown = found[:limit]
    if as_json:
        print(json.dumps([run.model_dump(mode="json") for run in shown], indent=2))
    elif shown:
        print(_table(shown))
    else:
        print("No runs.", file=sys.stderr)
    if len(found) > limit:
        print(f"There are more runs than {limit}: --limit lists more.", file=sys.stderr)


def _show(client: Client, run_id: str, as_json: bool) -> None:
    run = client.runs.get(run_id)
    if as_json:
        print(json.dumps(run.model_dump(mode="json"), indent=2))
        return
    facts = [(name, _line(text)) for name, text in _facts(run) if text]
    width = max(len(name) for name, _ in facts)
    print("\n".join(f"{name:{width}}  {text}" for name, text in facts))


def _table(runs: Iterable[Run]) -> str:
    """Runs as aligned columns. Names come last: they may be long, and wide in a terminal."""
    head = ("ID", "STATE", "HEALTH", "STEP", "REWARD", "CREATED (UTC)", "NAME")
    rows = [head, *(tuple(_line(cell) for cell in _cells(run)) for run in runs)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    )


def _cells(run: Run) -> tuple[str, ...]:
    steps, reward = f"{run.step}/{run.total_steps}", _number(run.summary.reward)
    return run.id, run.state, run.health.state, steps, reward or "-", _time(run.created_at), run.name


def _facts(run: RunDetails) -> list[tuple[str, str]]:
    """Names and texts that ``show`` prints, empty for what the run does not have."""
    saved, doing, cost = run.last_checkpoint, run.progress, run.cost
    price = "" if cost.price is None else f", {cost.price:.2f} {cost.currency or ''}".rstrip()
    parts = f" {doing.done}/{doing.total}" if doing and doing.total else ""
    return [
        ("ID", run.id),
        ("Name", run.name),
        ("State", run.state),
        ("Reason", run.state_reason),
        ("Health", run.health.state),
        ("Step", f"{run.step} of {run.total_steps}"),
        ("Phase", f"{doing.phase}{parts}" if doing and not run.finished_at else ""),
        ("Reward", _number(run.summary.reward)),
        ("Evaluation", _number(run.summary.eval)),
        ("Loss", _number(run.summary.loss)),
        ("Held-out loss", _number(run.summary.eval_loss)),
        ("Policy", run.policy),
        ("Cluster", run.placed_on or run.cluster or ""),
        ("Checkpoint", f"{saved.id}, step {saved.step}" if saved else ""),
        ("Parent", f"{run.parent.run} {run.parent.name}" if run.parent else ""),
        ("Cost", f"{cost.gpu_hours:.2f} GPU hours{price}"),
        ("Created", f"{_time(run.created_at)} UTC by {run.created_by}"),
        ("Started", f"{_time(run.started_at)} UTC" if run.started_at else ""),
        ("Finished", f"{_time(run.finished_at)} UTC" if run.finished_at else ""),
        ("Notes", run.notes),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def _line(text: str) -> str:
    """``text`` on one line, without characters that would steer the terminal: people write names and notes."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _fail(error: DressageError, status: int) -> int:
    print(f"dressage: {error}", file=sys.stderr)
    return status
