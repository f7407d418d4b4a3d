"""Statistics of rows: what is noted of each, and how the report counts them."""

from collections.abc import Callable

import pytest

from dressage.datasets.models import DatasetVersion
from dressage.datasets.versions import notes
from dressage.lab.models import LabJob
from dressage.lab.statistics.answer_types import answer_type
from tests.support.about import PLATFORM

ANSWERS = {
    "none": (None, "", "  \n"),
    "integer": ("18", "-3", "1,234", "$42$", r"\boxed{7}", "50%", "$5", "0", "− 4"),
    "decimal": ("3.5", "-0.25", ".5", "1,000.25", "1e-3", "$2.50"),
    "fraction": ("1/2", "-3 / 4", r"\frac{3}{4}", r"\dfrac12", r"$\frac{-1}{2}$"),
    "choice": ("A", "(B)", "C.", "d)", r"\text{(E)}"),
    "expression": (r"\sqrt{2}", "x^2+1", "2x", "x = 3", "(1, 2)", r"\frac{x}{2}", "1 + 2", "x + y", "[0, 1)"),
    "code": ("def f(x):\n    return x", "```\nprint(1)\n```", "#include <stdio.h>\nint main() { return 0; }"),
    "text": ("Paris", "the horse runs", "A horse", "1,23", "12,34,5 apples", "Yes", "19 horses"),
}


@pytest.mark.parametrize(("kind", "answers"), ANSWERS.items())
def test_kinds_of_answers(kind: str, answers: tuple[str | None, ...]) -> None:
    assert {answer: answer_type(answer) for answer in answers} == dict.fromkeys(answers, kind)


@pytest.mark.expensive(3, "starts a job's process", about=PLATFORM)
def test_what_is_noted(finish: Callable[..., LabJob], make: Callable[..., DatasetVersion]) -> None:
    version = make(
        [
            {"prompt": "How many horses are there in the stable on the hill?", "answer": "18"},
            {"prompt": "Wie viele Pferde stehen denn heute in dem alten Stall?", "answer": "1/2"},
            {"prompt": "小明昨天在商店里买了很多苹果和香蕉，他一共花了多少钱？", "answer": "A"},
            {"prompt": "2 + 2"},
            {"prompt": "x" * 500_000, "answer": "text of no kind"},
        ]
    )
    job = finish(version, {"kind": "statistics"})
    assert (job.state, job.error, job.notes) == ("done", "", ["statistics"])
    table = notes.read(version, "statistics").to_pydict()
    assert table["characters"] == [52, 54, 27, 5, 500_000]
    assert table["words"] == [11, 10, 25, 2, 1]
    assert table["language"][:4] == ["en", "de", "zh", None]
    assert table["script"] == ["Latin", "Latin", "Han", "none", "Latin"]
    assert table["answer_type"] == ["integer", "fraction", "choice", "none", "text"]
    report = job.report["statistics"]
    assert report["rows"] == 5 and sum(one["rows"] for one in report["characters"]) == 5
    assert (report["characters"][0]["least"], report["characters"][-1]["most"]) == (5, 500_000)
    assert report["scripts"][0] == {"name": "Latin", "rows": 3}
    assert {one["name"]: one["rows"] for one in report["languages"]}["unknown"] >= 1
