"""Which fields and kinds of a run spec the recipes and the tests of whole runs use. Tests are read, not run.

A field is used where a document names it, default or not; a kind (a member of a union, such as a loss) where a document
chooses it.
"""

import ast
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic import BaseModel

from tests.support import combinations
from tests.support.installation import ROOT
from trainer_core.spec import RunSpec
from trainer_core.spec.base import SpecModel
from trainer_core.spec.recipes import list_published, list_recipes

Model = type[BaseModel]
STARTS = ("launcher.start", "loop.run(", "run(warm_loop")
"""Calls that start a whole run."""


@dataclass
class Usage:
    """Fields by the class that has them, and kinds by their class."""

    fields: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)

    def add(self, model: Model, names: Iterator[str] | typing.Iterable[str]) -> None:
        """Take note of a document of ``model`` that holds ``names``."""
        self.kinds.add(model.__name__)
        self.fields |= {place(model, name) for name in names if name in model.model_fields}


def place(model: Model, name: str) -> str:
    """A field by the class that declares it: one that several kinds inherit is one field."""
    declaring = next(one for one in reversed(model.__mro__) if name in getattr(one, "__annotations__", {}))
    return f"{declaring.__name__}.{name}"


def models(annotation: Any = RunSpec) -> dict[str, Model]:
    """Every class that a run spec is made of, by its name, in the order of the document."""
    found: dict[str, Model] = {}

    def walk(one: Any) -> None:
        if isinstance(one, type) and issubclass(one, BaseModel):
            if one.__name__ not in found:
                found[one.__name__] = one
                for member in one.model_fields.values():
                    walk(member.annotation)
            return
        for part in typing.get_args(one):
            walk(part)

    walk(annotation)
    return found


def kind_of(model: Model) -> str | None:
    """The ``type`` by which a union chooses the class; None where there is nothing to choose."""
    entry = model.model_fields.get("type")
    return None if entry is None or entry.default is None else str(entry.default)


def of_recipes() -> Usage:
    """Usage of every shipped document, and of the combinations that run beside them."""
    usage = Usage()
    specs = combinations.specs()
    specs += [recipe.run_spec() for recipe in [*list_recipes(), *list_published()]]
    for path in sorted((ROOT / "demo").glob("*.yaml")):
        specs.append(RunSpec.model_validate(yaml.safe_load(path.read_text())["spec"]))
    for spec in specs:
        _of_value(spec, usage)
    return usage


def _of_value(value: Any, usage: Usage) -> None:
    if isinstance(value, BaseModel):
        usage.add(type(value), value.model_fields_set)
        for name in value.members if isinstance(value, SpecModel) else type(value).model_fields:
            _of_value(getattr(value, name), usage)
    elif isinstance(value, list | tuple):
        for one in value:
            _of_value(one, usage)


def of_whole_runs() -> Usage:
    """Usage of the documents that are written out in tests which start whole runs."""
    usage = Usage()
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text()
        if "support" not in path.parts and any(call in text for call in STARTS):
            read(text, usage)
    return usage


def read(text: str, usage: Usage) -> None:
    """Take note of the documents that a module writes out."""
    tree, known = ast.parse(text), models()
    constants = _constants(tree)
    for annotation, document in _documents(tree):
        _of_literal(annotation, document, known, usage, constants)


def _documents(tree: ast.Module) -> Iterator[tuple[Any, Any]]:
    """Literals with what they are documents of; None for those that are not told by the name they are given to.

    Names are ``path__to__field``, as keyword or as a key: what ``tiny_spec`` of the loop's tests takes.
    """
    told: set[int] = set()
    for node in ast.walk(tree):
        given: list[tuple[str, ast.expr]] = []
        if isinstance(node, ast.Call):
            given = [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
        elif isinstance(node, ast.Dict):
            given = [(name, value) for name, value in _entries(node).items() if "__" in name]
        for name, value in given:
            owner, last = _owner(name), name.rpartition("__")[2]
            if _member(owner, last) is not None:
                yield owner, {last: value}
                told.add(id(value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict) and id(node) not in told:
            yield None, node


def _owner(path: str) -> Any:
    annotation: Any = RunSpec
    for name in path.split("__")[:-1]:
        annotation = _member(annotation, name)
    return annotation


def _member(annotation: Any, name: str) -> Any:
    """The annotation of a field of whichever class of ``annotation`` has it; None where none does."""
    for model in _classes(annotation):
        if name in model.model_fields:
            return model.model_fields[name].annotation
    return None


def _classes(annotation: Any) -> list[Model]:
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [found for part in typing.get_args(annotation) for found in _classes(part)]


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Values of the module's own names."""
    return {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _of_literal(
    annotation: Any, document: Any, known: Mapping[str, Model], usage: Usage, constants: Mapping[str, ast.expr]
) -> None:
    """Match a literal with the one class that it can be a document of, and its members with theirs."""
    if isinstance(document, ast.Name):
        document = constants.get(document.id)
    if isinstance(document, ast.List | ast.Tuple):
        for one in document.elts:
            _of_literal(annotation, one, known, usage, constants)
        return
    entries = document if isinstance(document, dict) else _entries(document)
    if not entries:
        return
    chosen = entries.get("type")
    kind = chosen.value if isinstance(chosen, ast.Constant) else None
    candidates = list(known.values()) if annotation is None else _classes(annotation)
    fitting = [model for model in candidates if entries.keys() <= model.model_fields.keys() and kind_of(model) == kind]
    if len(fitting) != 1:
        return
    usage.add(fitting[0], entries)
    for name, value in entries.items():
        _of_literal(fitting[0].model_fields[name].annotation, value, known, usage, constants)


def _entries(node: Any) -> dict[str, Any]:
    if not isinstance(node, ast.Dict):
        return {}
    keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
    return {str(key): value for key, value in zip(keys, node.values, strict=True) if key is not None}
