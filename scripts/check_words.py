"""Checks the words of the source trees: docstrings that are fragments, class names used twice, metaphors, the glossary.

``python scripts/check_words.py`` prints each fault with its place and exits 1 if there is any.
"""

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREES = ("trainer_core", "kernels", "worker", "platform", "sdk", "deploy")
GLOSSARY = "docs/development/glossary.md"


def words(text: str) -> frozenset[str]:
    """Set of the words of ``text``."""
    return frozenset(text.split())


FRAGMENTS = words(
    "after again against also among and as at because before behind beside besides between beyond but by during"
    " else for from if in instead like likewise of on or over since so than that then through to under until up whose"
    " with within without"
)
"""Words with which no sentence and no noun phrase begins that stands alone as a docstring."""
QUESTIONS = words("how what when where which who why")
"""Words of a clause that names its subject only by a question: the noun itself says more."""
PUBLISHED = (
    "trainer_core/spec/",
    "trainer_core/rewards/",
    "trainer_core/explain/",
    "trainer_core/planning/rates.py",
    "trainer_core/link/",
    "platform/dressage/",
)
"""Places of help texts: classes, their fields and views here describe the JSON Schema or the API, word by word."""
PUBLISHED_FRAGMENTS = frozenset(
    {
        "For mixtures of experts: ratios",
        "From a completion's last token to its reward.",
        "If set, the grade is 1 from here on and 0 below.",
        "Between the sequence mean and the token mean:",
        "For ``count``: of this step;",
        "Instead: this many",
        "Whose calling convention the functions follow.",
        "Of a ``multi``: grade by name.",
        "Of one rollout engine.",
        "Seconds.",
        "Of the learner.",
        "Of a weight update.",
        "Over the whole run.",
    }
)
"""Beginnings of published texts that stay as they are, because a change would change the schema."""

SHARED_NAMES = {
    "BenchJob": "the row, and the job as the link carries it",
    "FieldError": "a fault as the API sends it, and as its client returns it",
    "Checkpoint": "the row, and the section of the spec",
    "Cluster": "the row, the cluster that is planned with, and that of a chart",
    "Command": "Django finds a management command by this name",
    "JudgeEndpoint": "the row, and the endpoint as the link carries it",
    "Meta": "Django reads a model's options from it",
    "Migration": "Django finds a migration by this name",
    "Policy": "the row, and the section of the spec",
    "Reward": "the row, and the section of the spec",
    "RewardVersion": "the row, and the version as the link carries it",
    "Rollout": "the row, and the section of the spec",
    "Run": "the row, and the run as the client returns it",
}
"""Class names that may stand twice: names of rows and of schemas are stored, and never change."""
METAPHORS = words("aside asides bell desk doorbell freight lump lumps stir stirred twin twins")
"""Words that named things for which the field has a term; no identifier holds them."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring with its place. ``kind`` is "module", "class", "function" or "field"."""

    line: int
    kind: str
    text: str


def docstrings(tree: ast.Module) -> Iterator[Docstring]:
    """All docstrings of a module, those behind fields and constants included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            kind = (
                "module" if isinstance(node, ast.Module) else "class" if isinstance(node, ast.ClassDef) else "function"
            )
            if text:
                yield Docstring(node.body[0].lineno, kind, text)
            for before, after in zip(node.body, node.body[1:], strict=False):
                if isinstance(before, ast.Assign | ast.AnnAssign) and isinstance(after, ast.Expr):
                    value = after.value
                    if isinstance(value, ast.Constant) and isinstance(value.value, str):
                        yield Docstring(after.lineno, "field", value.value)


def fault(doc: Docstring, published: bool = False) -> str | None:
    """Reason why the docstring is a fragment, or None. ``published``: a schema may show it, so a question may stay."""
    found = doc.text.split()
    first = found[0].strip(".,:;").casefold() if found else ""
    shown = " ".join(found)[:60]
    if published and shown.startswith(tuple(PUBLISHED_FRAGMENTS)):
        return None
    if len(found) == 1 and "``" not in shown and "[" not in shown:
        return f"one word is no docstring: {shown!r}"
    if first in FRAGMENTS or (first in QUESTIONS and not published):
        return f"begins with {found[0]!r}, not with a noun or a verb: {shown!r}"
    if argument := re.search(r"^ +(\w+): +(likewise|of|that|whose)\b", doc.text, re.MULTILINE | re.IGNORECASE):
        return f"describes {argument[1]} by a fragment that begins with {argument[2]!r}: {shown!r}"
    return None


def fragments(path: str, tree: ast.Module) -> Iterator[str]:
    """Faults of a file's docstrings, with their places."""
    for doc in docstrings(tree):
        published = path.startswith(PUBLISHED) and (doc.kind in ("class", "field") or "/views" in path)
        if (reason := fault(doc, published)) is not None:
            yield f"{path}:{doc.line}: the docstring {reason}"


def shared_names(trees: dict[str, ast.Module]) -> Iterator[str]:
    """Faults of class names that stand in more than one place."""
    places = defaultdict(list)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name not in SHARED_NAMES:
                places[node.name].append(f"{path}:{node.lineno}")
    for name, found in sorted(places.items()):
        if len(found) > 1:
            yield f"{found[0]}: the class name {name} stands at {', '.join(found[1:])} too: name each by its role"


def metaphors(path: str, source: str) -> Iterator[str]:
    """Faults of identifiers and file names that hold a metaphor."""
    names = [(0, Path(path).stem)]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME:
            names.append((token.start[0], token.string))
    for line, name in names:
        parts = re.findall(r"[A-Z]?[a-z]+", name)
        if held := METAPHORS & {part.casefold() for part in parts}:
            yield f"{path}:{line}: {name} holds the metaphor {min(held)!r}: use the field's term"


def glossary(root: Path) -> Iterator[str]:
    """Faults of the glossary: words out of order, paths that are not there."""
    text = (root / GLOSSARY).read_text()
    terms = re.findall(r"^\| \*\*(.+?)\*\* \|", text, re.MULTILINE)
    for word, wanted in zip(terms, sorted(terms, key=str.casefold), strict=True):
        if word != wanted:
            yield f"{GLOSSARY}: {word!r} stands where {wanted!r} belongs"
            break
    for path in sorted(set(re.findall(r"`((?:platform|worker|trainer_core|kernels|sdk|frontend)/[\w./-]+)`", text))):
        if not (root / path).exists():
            yield f"{GLOSSARY}: there is no {path}"


def faults(root: Path = ROOT) -> list[str]:
    """Faults of all words under ``root``, each one line."""
    files = (file for tree in TREES for file in sorted((root / tree).rglob("*.py")))
    paths = [file.relative_to(root).as_posix() for file in files if "migrations" not in file.parts]
    sources = {path: (root / path).read_text() for path in paths}
    trees = {path: ast.parse(source) for path, source in sources.items()}
    found = [line for path, tree in trees.items() for line in fragments(path, tree)]
    found += shared_names(trees)
    found += [line for path, source in sources.items() for line in metaphors(path, source)]
    return [*found, *glossary(root)]


if __name__ == "__main__":
    found = faults()
    print("\n".join(found))
    sys.exit(1 if found else 0)
