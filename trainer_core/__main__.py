"""Command line of the science: ``python -m trainer_core explain RECIPE``, ``python -m trainer_core plugins``."""

import argparse
import json
import sys
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from trainer_core.explain import explain
from trainer_core.explain.text import render
from trainer_core.planning.policy_size import PolicySize
from trainer_core.spec import RunSpec, plugins
from trainer_core.spec.recipes import list_published, list_recipes


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the exit status is 2 if the spec is rejected."""
    parser = argparse.ArgumentParser(prog="python -m trainer_core", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("explain", help="what a run spec means: batch, ratio bands, methods, metrics")
    command.add_argument("spec", help="a run spec or recipe, YAML or JSON, or the name of a shipped recipe")
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument("--policy", type=Path, help="folder of the base policy: shows the memory that the run needs")
    command.add_argument("--teacher", type=Path, help="folder of the teacher, if the spec distils one")
    commands.add_parser("plugins", help="methods and graders of installed packages: loaded and skipped")
    given = parser.parse_args(arguments)
    if given.command == "plugins":
        return _plugins()
    try:
        spec = RunSpec.model_validate(_document(given.spec))
    except OSError as error:
        print(f"{given.spec}: {error.strerror}; shipped recipes: {', '.join(_names())}", file=sys.stderr)
        return 2
    except (yaml.YAMLError, ValidationError) as error:
        print(f"{given.spec}: {error}", file=sys.stderr)
        return 2
    sizes = []
    for folder in (given.policy, given.teacher):
        try:
            sizes.append(None if folder is None else PolicySize.of(folder))
        except (OSError, ValueError) as error:
            print(f"{folder}: {error}", file=sys.stderr)
            return 2
    size, teacher = sizes
    explanation = explain(spec, size, teacher)
    if given.json:
        print(json.dumps(asdict(explanation), indent=2, ensure_ascii=False))
    else:
        print(render(explanation), end="")
    return 0


def _plugins() -> int:
    """Print the plug-ins; the exit status is 1 if one was left out."""
    import_module("trainer_core.rewards.graders")  # the only kind that a run spec does not load
    print("\n".join(str(plugin) for plugin in plugins.loaded.values()) or "No plug-in is in use.")
    for plugin, reason in plugins.failures.items():
        print(f"skipped: {plugin}: {reason}", file=sys.stderr)
    return int(bool(plugins.failures))


def _document(name: str) -> Any:
    """The run spec of a file, alone or under ``spec`` as in a recipe, or of a shipped recipe."""
    shipped = {recipe.name: recipe.spec for recipe in [*list_recipes(), *list_published()]}
    if name in shipped:
        return shipped[name]
    document = yaml.safe_load(Path(name).read_text())
    return document["spec"] if isinstance(document, dict) and "spec" in document else document


def _names() -> list[str]:
    return [recipe.name for recipe in [*list_recipes(), *list_published()]]


if __name__ == "__main__":
    sys.exit(main())
