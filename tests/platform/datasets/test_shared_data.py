"""Files as other people have them: each is recognised at sight and mapped, without a hand laid on it.

Excerpts of our own making have the shapes of those files. Where the folder of real files stands beside the checkout,
those are read, too.
"""

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dressage.common.api.problems import Problem
from dressage.datasets.files import parquet
from dressage.datasets.files.reading import UploadedRows
from tests.support.about import PLATFORM

SHARED = Path(os.environ.get("SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
Rows = list[dict[str, Any]]


def read(file: Any, name: str = "") -> tuple[UploadedRows, Rows]:
    reader = UploadedRows(file, name)
    rows = [row.data for row in reader]
    reader.raise_errors()
    return reader, rows


def asked(row: dict[str, Any]) -> str:
    """What the policy is asked."""
    return str(row["messages"][-1]["content"] if "messages" in row else row["prompt"])


def lines(*rows: dict[str, Any]) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows)


def packed(folder: Path, kind: str) -> io.BytesIO:
    """A folder as an archive."""
    out = io.BytesIO()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            for path in files:
                archive.write(path, path.relative_to(folder.parent))
    else:
        with tarfile.open(fileobj=out, mode="w:gz") as tar:
            for path in files:
                tar.add(path, str(path.relative_to(folder.parent)))
    out.seek(0)
    return out


def has_pairs(rows: Rows) -> bool:
    return all(set(row) == {"messages", "answer"} and row["answer"].lstrip("-").isdigit() for row in rows)


def has_problems(rows: Rows) -> bool:
    return all(
        len(asked(row)) > 100 and row["tests"] and all(set(test) == {"input", "output"} for test in row["tests"])
        for row in rows
    )


FILES: dict[str, tuple[str, str, int, Callable[[Rows], Any]]] = {
    "gsm8k/train.jsonl": ("jsonl", "gsm8k", 7473, lambda rows: rows[0]["answer"] == "72"),
    "gsm8k/test.jsonl": ("jsonl", "gsm8k", 1319, lambda rows: rows[0]["answer"] == "18"),
    "math500/test.jsonl": (
        "jsonl",
        "math",
        500,
        lambda rows: rows[0]["answer"].startswith("\\left( 3, \\frac{\\pi}{2}"),
    ),
    "humaneval/HumanEval.jsonl.gz": (
        "jsonl",
        "humaneval",
        164,
        lambda rows: rows[0]["tests"][0].endswith("check(has_close_elements)"),
    ),
    "mbpp/sanitized-mbpp.json": ("json", "mbpp", 427, lambda rows: len(rows[0]["tests"]) == 3),
    "aime/aime24_test.jsonl": ("jsonl", "math", 30, lambda rows: rows[1]["answer"] == "025" or rows[0]["answer"]),
    "aime/aime25.jsonl": ("jsonl", "question_answer", 30, lambda rows: rows[0]["answer"] == "70"),
    "aime/aimo-validation-aime_2022-2024.jsonl": (
        "jsonl",
        "question_answer",
        90,
        lambda rows: rows[0]["answer"] == "116",
    ),
    "intmath/deepmath_integer_answers.jsonl": (
        "jsonl",
        "roll",
        1941,
        lambda rows: all(row["answer"].lstrip("-").isdigit() for row in rows),
    ),
    "countdown/24.csv": (
        "csv",
        "game_of_24",
        1362,
        lambda rows: rows[0]["numbers"] == [1, 1, 4, 6] and "1, 1, 4 and 6" in asked(rows[0]),
    ),
    "logic/kk_3ppl_test.parquet": (
        "parquet",
        "knights_and_knaves",
        100,
        lambda rows: (
            [one["role"] for one in rows[0]["messages"]] == ["system", "user"]
            and asked(rows[0]) == rows[0]["quiz"]
            and rows[0]["answer"].startswith("(1) Amelia is a knight")
            and rows[0]["solution"] == [True, True, False]
        ),
    ),
    "logic/kk_5ppl_test.parquet": (
        "parquet",
        "knights_and_knaves",
        100,
        lambda rows: all(row["answer"].startswith("(1) ") for row in rows),
    ),
    "ifeval/input_data.jsonl": ("jsonl", "ifeval", 541, lambda rows: None not in rows[0]["kwargs"][0].values()),
    **{
        f"mgsm/mgsm_{language}.tsv": ("tsv", "pairs", 250, has_pairs)
        for language in ("en", "es", "fr", "de", "ru", "zh", "ja", "th", "sw", "bn", "te")
    },
    "rubrics/writingbench_length_subset.jsonl": (
        "jsonl",
        "writingbench",
        222,
        lambda rows: (
            sum(len(row["rubric"]) for row in rows) == 1110 and "1-2 points: " in rows[0]["rubric"][0]["description"]
        ),
    ),
    "rubrics/paperbench_semantic-self-consistency_rubric.json": (
        "json",
        "paperbench",
        1,
        lambda rows: abs(sum(one["weight"] for one in rows[0]["rubric"]) - 100) < 1e-3 and len(rows[0]["rubric"]) > 10,
    ),
    "swe/swe_bench_verified_example.jsonl": ("jsonl", "own", 10, lambda rows: "sandbox_image" in rows[0]),
    "verifiable_misc/multi_subject_rlvr_first400.jsonl": (
        "jsonl",
        "roll",
        400,
        lambda rows: rows[0]["answer"] == "Western blot",
    ),
    "codejam": ("kattis", "kattis", 24, has_problems),
    "kattis": ("kattis", "kattis", 2, has_problems),
}


@pytest.mark.expensive(4, "reads many or large files", about=PLATFORM)
@pytest.mark.parametrize("name", FILES)
def test_a_real_file(name: str) -> None:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"There is no folder of shared data beside this checkout, so {name} is not read.")
    form, shape, count, holds = FILES[name]
    file = packed(path, "zip" if name == "codejam" else "tar") if path.is_dir() else path.open("rb")
    with file:
        reader, rows = read(file, path.name)
    assert reader.format is not None and reader.shape is not None
    assert (reader.format.name, reader.shape.name, len(rows)) == (form, shape, count)
    assert holds(rows)


def test_a_table_without_header_whose_quotes_are_letters() -> None:
    content = b'Le dice "hola" a 3.\t1,250\nOf "two", one is left?\t1\n"a"b\t-3\n'
    reader, rows = read(io.BytesIO(content), "mgsm_es.tsv")
    assert reader.format is not None and (reader.format.name, reader.format.unit) == ("tsv", "line")
    assert [(asked(row), row["answer"]) for row in rows] == [
        ('Le dice "hola" a 3.', "1250"),
        ('Of "two", one is left?', "1"),
        ('"a"b', "-3"),
    ]


def test_numbers_for_the_game_of_24() -> None:
    reader, rows = read(
        io.BytesIO(b"Rank,Puzzles,AMT (s),Solved rate\n1,1 1 4 6,4.4,99.20%\n2,1 1 11 11,4.41,99.60%\n")
    )
    assert reader.shape is not None and reader.shape.name == "game_of_24"
    assert rows[1]["numbers"] == [1, 1, 11, 11]
    assert (rows[1]["target"], rows[1]["Solved rate"]) == (24, "99.60%")
    assert asked(rows[1]).startswith("Use each of the numbers 1, 1, 11 and 11 exactly once")


def test_nested_columns_of_parquet_are_chats_and_objects() -> None:
    turns = "<|im_start|>system\nReason.\n<|im_end|>\n<|im_start|>user\nWho lies?\n<|im_end|>\n"
    prompt = f"{turns}<|im_start|>assistant\n<think>"
    table = pa.table(
        {
            "quiz": ["Who lies?"],
            "solution": [[True, False]],
            "solution_text_format": ["(1) Ada is a knight\n(2) Bob is a knave"],
            "prompt": [[{"content": prompt, "role": "user"}]],
            "extra_info": [{"index": 7, "split": "test"}],
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file)
    reader, rows = read(file)
    assert reader.shape is not None and reader.shape.name == "knights_and_knaves"
    assert rows[0]["messages"] == [{"role": "system", "content": "Reason."}, {"role": "user", "content": "Who lies?"}]
    assert (rows[0]["solution"], rows[0]["extra_info"]) == ([True, False], {"index": 7, "split": "test"})
    assert rows[0]["answer"] == "(1) Ada is a knight\n(2) Bob is a knave"


def test_checklists_become_rubrics() -> None:
    levels = {level: f"about {level}" for level in ("1-2", "3-4", "5-6", "7-8", "9-10")}
    one = {"name": "Length", "criteria_description": "Is it long?", **levels}
    reader, rows = read(io.BytesIO(lines({"index": 3, "query": "Write.", "checklist": [one, one]})))
    assert reader.shape is not None and reader.shape.name == "writingbench"
    assert [criterion["name"] for criterion in rows[0]["rubric"]] == ["Length", "Length (2)"]
    assert rows[0]["rubric"][0]["description"].splitlines()[:2] == ["Is it long?", "1-2 points: about 1-2"]


def test_a_tree_of_requirements_is_one_row_with_its_leaves() -> None:
    def node(requirements: str, weight: float, *below: dict[str, Any]) -> dict[str, Any]:
        return {"id": requirements, "requirements": requirements, "weight": weight, "sub_tasks": list(below)}

    tree = node("all", 1, node("data", 1, node("a", 3), node("b", 1)), node("results", 3))
    reader, rows = read(io.BytesIO(json.dumps(tree, indent=4).encode()))
    assert reader.shape is not None and reader.shape.name == "paperbench"
    assert [(one["name"], one["weight"]) for one in rows[0]["rubric"]] == [
        ("1. a", 18.75),
        ("2. b", 6.25),
        ("3. results", 75.0),
    ]


def problem(**files: str) -> dict[str, str]:
    return {
        "problem.yaml": "name: Sum\noutput_validator_flags: float_tolerance 1e-6\nlimits:\n  time_limit: 2\n",
        "problem_statement/problem.en.tex": "\\problemname{Sum} Add the numbers.",
        "data/sample/1.in": "1 2\n",
        "data/sample/1.ans": "3\n",
        "data/secret/group1/1.in": "5 6\n",
        "data/secret/group1/1.ans": "11\n",
        "data/secret/group1/2.in": "without an answer",
        "submissions/accepted/sum.py": "print(sum(map(int, input().split())))",
        **files,
    }


def archive(folders: dict[str, dict[str, str]]) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for folder, files in folders.items():
            for name, text in files.items():
                made.writestr(f"{folder}/{name}", text)
    out.seek(0)
    return out


def test_problems_become_rows_with_tests() -> None:
    page = "<html><head><style>p {}</style></head><body><p>Sub&lt;tract</p><ul><li>one</li></ul></body></html>"
    html = {**problem(), "problem_statement/problem.html": page}
    del html["problem_statement/problem.en.tex"]
    bare = {name: text for name, text in problem().items() if not name.startswith("problem_statement")}
    reader, rows = read(archive({"set/a": problem(), "set/b": html, "set/c": bare}))
    assert reader.shape is not None and reader.shape.name == "kattis"
    first, second = rows
    assert first["tests"] == [{"input": "1 2\n", "output": "3\n"}, {"input": "5 6\n", "output": "11\n"}]
    assert (first["id"], first["name"], first["time_limit_s"], first["float_tolerance"]) == ("set/a", "Sum", 2, 1e-6)
    assert "Add the numbers." in asked(first) and "Sample input 1:\n1 2\n\nSample output 1:\n3" in asked(first)
    assert asked(second).startswith("Sub<tract\n\n- one")
    (warning,) = reader.findings.warnings()
    assert (warning["code"], warning["rows"], warning["first_rows"]) == ("left_out", 1, [3])
    assert "has no statement" in warning["detail"]


def test_harbor_tasks_become_rows() -> None:
    task = {
        "task.toml": 'version = "1.0"\n[metadata]\ndifficulty = "easy"\n',
        "instruction.md": "Create the file hello.txt.\n",
        "environment/Dockerfile": "FROM ubuntu:24.04\n",
        "tests/test.sh": "test -f hello.txt\n",
        "solution/solve.sh": "touch hello.txt\n",
    }
    reader, rows = read(archive({"tasks/hello": task}))
    assert reader.shape is not None and reader.shape.name == "harbor"
    assert rows == [
        {
            "messages": [{"role": "user", "content": "Create the file hello.txt."}],
            "id": "tasks/hello",
            "name": "hello",
            "task_format": "harbor",
            "test_files": {"tests/test.sh": "test -f hello.txt\n"},
            "task": {"version": "1.0", "metadata": {"difficulty": "easy"}},
            "dockerfile": "FROM ubuntu:24.04\n",
        }
    ]


def test_turns_of_sharegpt_end_with_the_user() -> None:
    turns = [{"from": "human", "value": "1+1="}, {"from": "gpt", "value": "2"}]
    reader, rows = read(io.BytesIO(lines({"conversations": turns})))
    assert reader.shape is not None and reader.shape.name == "sharegpt"
    assert rows == [{"messages": [{"role": "user", "content": "1+1="}], "reference": "2"}]


def test_a_large_group_of_nested_rows_is_not_taken_for_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MAX_FILE_BYTES", 4 << 20)
    count = 3000
    table = pa.table(
        {
            "prompt": [f"{number} {'a' * 500}" for number in range(count)],
            "x": [[{"y": f"{number} {'b' * 500}"}] for number in range(count)],
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=count)
    for limit in (parquet._SMALL_GROUP, 1 << 10):
        monkeypatch.setattr(parquet, "_SMALL_GROUP", limit)
        _, rows = read(file)
        assert (len(rows), rows[-1]["x"][0]["y"][:5]) == (count, "2999 ")
    monkeypatch.setattr(parquet, "MAX_FILE_BYTES", 2 << 20)
    with pytest.raises(Problem, match="unpacks to more than 2,097,152 bytes"):
        read(file)
