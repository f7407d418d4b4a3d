"""The words of the source trees: each kind of fault is found. That the trees hold none is a check of ``make lint``."""

import ast
from pathlib import Path

import pytest

from scripts.check_words import Docstring, docstrings, fault, fragments, glossary, metaphors, shared_names


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("That it scores by.", "begins with 'That'"),
        ("Of the step in hand.", "begins with 'Of'"),
        ("Likewise.", "one word is no docstring"),
        ("Where it lies.", "begins with 'Where'"),
        ("Apply it.\n\nArgs:\n    step: the first.\n    group: likewise.", "describes group by a fragment"),
        ("Apply it.\n\nArgs:\n    step: that is learned.", "describes step by a fragment"),
    ],
)
def test_a_fragment_is_told(text: str, begins: str) -> None:
    assert (fault(Docstring(1, "function", text)) or "").startswith(begins)


@pytest.mark.parametrize(
    "text", ["Metrics of the step in hand.", "Return it.", "[T].", "``slug@version``.", "Whether it ran."]
)
def test_a_whole_docstring_passes(text: str) -> None:
    assert fault(Docstring(1, "field", text)) is None


def test_a_question_passes_in_a_published_text_alone() -> None:
    source = '"""What it is."""\n\n\nclass A:\n    """How it goes."""\n'
    tree = ast.parse(source)
    assert [line.split(": ")[0] for line in fragments("worker/a.py", tree)] == ["worker/a.py:1", "worker/a.py:5"]
    assert [line.split(": ")[0] for line in fragments("trainer_core/spec/a.py", tree)] == ["trainer_core/spec/a.py:1"]


def test_docstrings_of_fields_count() -> None:
    source = (
        '"""A module."""\nX = 1\n"""Of it."""\n\n\ndef f() -> None:\n    """By it."""\n    y = 1\n    """As it."""\n'
    )
    assert [(doc.line, doc.kind) for doc in docstrings(ast.parse(source))] == [
        (1, "module"),
        (3, "field"),
        (7, "function"),
        (9, "field"),
    ]


def test_a_class_name_stands_once() -> None:
    trees = {"worker/a.py": ast.parse("class Load: ..."), "worker/b.py": ast.parse("class Load:\n    class Meta: ...")}
    meta = {**trees, "worker/c.py": ast.parse("class Meta: ...")}
    assert list(shared_names(meta)) == [
        "worker/a.py:1: the class name Load stands at worker/b.py:1 too: name each by its role"
    ]


def test_a_metaphor_is_found_in_names_and_not_in_prose() -> None:
    assert list(metaphors("worker/a.py", '"""The same, letter case aside."""\nresult = 1\n')) == []
    assert list(metaphors("worker/freight.py", "class RewardDesk: ...\n")) == [
        "worker/freight.py:0: freight holds the metaphor 'freight': use the field's term",
        "worker/freight.py:1: RewardDesk holds the metaphor 'desk': use the field's term",
    ]


def test_the_glossary_is_sorted_and_its_paths_are_true(tmp_path: Path) -> None:
    page = tmp_path / "docs/development/glossary.md"
    page.parent.mkdir(parents=True)
    page.write_text("| **step** | One pass. | `worker/loop` |\n| **run** | A spec. | `worker` |\n")
    assert list(glossary(tmp_path)) == [
        "docs/development/glossary.md: 'step' stands where 'run' belongs",
        "docs/development/glossary.md: there is no worker/loop",
    ]
