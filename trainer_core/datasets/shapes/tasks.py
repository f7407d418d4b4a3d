"""Rows created from task folders by ``trainer_core.datasets.tasks``."""

from trainer_core.datasets.shape import Mapped, Shape

KATTIS = Shape(
    name="kattis",
    title="Kattis problems",
    columns="an archive of folders with `problem.yaml`",
    mapping=(
        Mapped("messages", "the statement, with the samples if it shows none, as the user's message"),
        Mapped("tests", "the inputs and answers in `data/sample` and `data/secret`"),
        Mapped("id", "the folder"),
        Mapped("name", "`name` in `problem.yaml`"),
    ),
    matches=lambda row: row.get("problem_format") == "kattis",
    convert=lambda row: row,
    grader={"type": "code_tests", "tests": "tests", "float_tolerance": 1e-6},
)
HARBOR = Shape(
    name="harbor",
    title="Harbor tasks",
    columns="an archive of folders with `task.toml`",
    mapping=(
        Mapped("messages", "`instruction.md` as the user's message"),
        Mapped("id", "the folder"),
        Mapped("test_files", "the files in `tests`"),
        Mapped("task", "`task.toml`"),
        Mapped("dockerfile", "`environment/Dockerfile`"),
    ),
    matches=lambda row: row.get("task_format") == "harbor",
    convert=lambda row: row,
)
