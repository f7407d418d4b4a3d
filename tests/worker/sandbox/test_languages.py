"""Programs of every language of the table, built once; comparison of what they write."""

import shutil
from typing import Any

import pytest

from tests.support.about import TRAINING
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import grade, languages
from trainer_core.rewards.graders.code.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.jail import JailError, Limits, Program
from trainer_core.rewards.graders.languages import LANGUAGES, Language
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool

PROGRAMS = {
    "bash": "read x; echo $((FACTOR * x))",
    "c": '#include <stdio.h>\nint main(void) { int x; scanf("%d", &x); printf("%d\\n", FACTOR * x); return 0; }',
    "cpp": "#include <iostream>\nint main() { int x; std::cin >> x; std::cout << FACTOR * x << std::endl; }",
    "javascript": "const text = require('fs').readFileSync(0, 'utf8');\nconsole.log(FACTOR * parseInt(text));",
    "java": "import java.util.*;\npublic class Main {\n  static class Node { int v; }\n"
    "  public static void main(String[] a) { System.out.println(FACTOR * new Scanner(System.in).nextInt()); }\n}",
}
ROW = {"tests": [{"input": "21\n", "output": "42\n"}, {"input": "-3\n", "output": "-6\n"}]}


def graded(jail: Any, code: str, row: dict[str, Any], **options: Any) -> float:
    sample = Sample(output_text=code, thinking_text=None, answer_text=code, completion_tokens=1)
    return grade(CodeTestsGrader(**{"timeout_s": 20.0, **options}), sample, row, Tools(jail))


def installed(language: str) -> bool:
    known = LANGUAGES[language]
    words = [known.run[0], *known.build[:1]]
    return all(word.startswith("./") or shutil.which(word, path="/usr/bin:/bin") for word in words)


@pytest.mark.expensive(4, "starts jails", about=TRAINING)
@pytest.mark.parametrize("language", PROGRAMS)
def test_right_and_wrong_programs(jail: JailPool, language: str) -> None:
    if not installed(language):
        pytest.skip(f"{language} is not installed on this machine")
    fence = f"```{sorted(LANGUAGES[language].fences)[0]}\n"
    right, wrong = (f"{fence}{PROGRAMS[language].replace('FACTOR', factor)}\n```" for factor in "23")
    assert graded(jail, right, ROW, language=language) == 1.0
    assert graded(jail, wrong, ROW, language=language) == 0.0
    broken = right.replace("x", "(") if language != "java" else right.replace("class Main", "class Main (")
    assert graded(jail, broken, ROW, language=language) == 0.0


def test_the_class_that_java_starts() -> None:
    java = LANGUAGES["java"]
    helper = "class Helper { static int f() { return 1; } }\n"
    main = "class Solution {\n    static class Inner { }\n    public static void main(String[] a) { }\n}\n"
    assert java.main_of(helper + main) == java.main_of(main + helper) == "Solution"
    assert java.main_of(helper + main.replace("class Solution", "public final class App")) == "App"
    assert java.file("int x;") == "Main.java"


def test_a_program_is_built_once(jail: JailPool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not installed("c"):
        pytest.skip("gcc is not installed on this machine")
    built = []
    build = JailPool.build

    def count(pool: JailPool, code: str, language: str, limits: Limits) -> Program:
        built.append(language)
        return build(pool, code, language, limits)

    monkeypatch.setattr(JailPool, "build", count)
    assert graded(jail, PROGRAMS["c"].replace("FACTOR", "2"), ROW, language="c") == 1.0
    assert built == ["c"]


def test_a_language_that_is_not_installed_is_an_error(jail: JailPool, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Language("zig", frozenset({"zig"}), "main.zig", ("no-such-zig", "{source}"))
    monkeypatch.setitem(LANGUAGES, "zig", missing)
    with pytest.raises(JailError, match="no-such-zig is not installed on this machine"):
        jail.build("x", "zig", Limits())


def test_a_language_that_a_deployment_adds(jail: JailPool, monkeypatch: pytest.MonkeyPatch) -> None:
    awk = Language("awk", frozenset({"awk"}), "main.awk", ("awk", "-f", "{source}"))
    if not shutil.which("awk", path="/usr/bin:/bin"):
        pytest.skip("awk is not installed on this machine")
    monkeypatch.setitem(LANGUAGES, "awk", awk)
    built = jail.build("{ print 2 * $1 }", "awk", Limits())
    assert jail.run(built, "21\n", (), Limits(wall_s=20.0)).output == b"42\n"


def test_the_table_is_extended_by_installed_packages(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Entry:
        value = "acme:thing"

        def __init__(self, name: str, found: object) -> None:
            self.name, self._found = name, found

        def load(self) -> object:
            if isinstance(self._found, Exception):
                raise self._found
            return self._found

    zig = Language("zig", frozenset({"zig"}), "main.zig", ("zig", "run", "{source}"))
    entries = [Entry("zig", zig), Entry("c", zig), Entry("odd", object()), Entry("gone", ImportError("no acme"))]
    monkeypatch.setattr(languages, "entry_points", lambda group: entries if group == "dressage.languages" else [])
    assert set(languages._table()) == {language.name for language in languages.BUILT_IN} | {"zig"}
    assert [record.message.split(" left out")[0] for record in caplog.records] == [
        "language 'c'", "language 'odd'", "language 'gone'",
    ]  # fmt: skip


def test_words_of_the_command_line(jail: JailPool) -> None:
    row = {"tests": [{"args": ["--n", "3"], "output": "9\n"}]}
    code = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--n', type=int)
print(parser.parse_args().n ** 2)
"""
    assert graded(jail, code, row) == 1.0
    assert graded(jail, code.replace("** 2", "** 3"), row) == 0.0


@pytest.mark.parametrize(
    ("output", "score"),
    [("0.3333333", 1.0), ("0.334", 0.0), ("1e0", 0.0), ("nan", 0.0), ("0.3333333 0", 0.0), ("x", 0.0)],
)
def test_numbers_within_a_tolerance(jail: JailPool, output: str, score: float) -> None:
    row = {"tests": [{"input": "", "output": "0.333333333\n"}]}
    assert graded(jail, f"print({output!r})", row, float_tolerance=1e-6) == score


def test_a_checker_of_the_row(jail: JailPool) -> None:
    check = """
def check(given, output, wanted):
    a, b = map(int, output.split())
    return a * b == int(given) and wanted is None
"""
    row = {"tests": [{"input": "12\n"}, {"input": "7\n"}], "judge": check}
    right = "n = int(input())\nd = next(d for d in range(2, n + 1) if n % d == 0)\nprint(d, n // d)"
    assert graded(jail, right, row, checker="judge") == 1.0
    assert graded(jail, right.replace("n // d", "n - d"), row, checker="judge") == 0.0
    with pytest.raises(GraderError, match=r"the row's checker gave no verdict[\s\S]*ValueError"):
        graded(jail, "input()\nprint('x y')", row, checker="judge")
    with pytest.raises(GraderError, match="test 0 is neither text nor"):
        graded(jail, right, row)
