"""The static checks of the repository. Long ones come first, so that none of them runs alone at the end."""

import sys

from scripts.lint.runner import Step


def _own(module: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", f"scripts.lint.{module}", *arguments)


STEPS = (
    Step("mypy", ("mypy",)),
    Step("eslint", ("node", "node_modules/eslint/bin/eslint.js", ".", "--max-warnings", "0"), folder="frontend"),
    Step("tsc", ("npm", "run", "--silent", "typecheck"), folder="frontend"),
    Step(
        "prettier",
        ("node", "node_modules/prettier/bin/prettier.cjs", "--check", "--log-level", "warn", "."),
        folder="frontend",
        remedy="Run npm run format in frontend/.",
    ),
    Step("bandit", ("bandit", "--quiet", "--configfile", "pyproject.toml", "--recursive", *(
        "trainer_core", "worker", "kernels", "platform/dressage", "sdk/dressage_sdk", "deploy", "scripts", "manage.py"
    ))),
    Step(
        "openapi",
        _own("django_checks", "openapi"),
        remedy="Run make openapi and commit frontend/openapi.json.",
    ),
    Step("migrations", _own("django_checks", "migrations"), remedy="Run manage.py makemigrations."),
    Step("deploy", _own("django_checks", "deploy")),
    Step(
        "dead-code",
        _own("dead_code"),
        remedy="Take it out with its tests, or say in scripts/lint/dead_code_allowed.toml who calls it.",
    ),
    Step("words", (sys.executable, "scripts/check_words.py")),
    Step("rooms", (sys.executable, "scripts/draw_rooms.py", "--check")),
    Step("waiting", _own("waiting"), remedy="Mend the test: CONTRIBUTING.md says what tests wait on."),
    Step("import-linter", ("lint-imports", "--no-cache", "--no-logo")),
    Step("deptry", ("deptry", "--no-ansi", "."), remedy="Declare each import with its reason in pyproject.toml."),
    Step("locks", _own("locks")),
    Step("pip-audit", _own("audit"), tells=True),
    Step("ruff", ("ruff", "check", "--output-format", "concise", ".")),
    Step("ruff-format", ("ruff", "format", "--check", "."), remedy="Run ruff format."),
)  # fmt: skip
