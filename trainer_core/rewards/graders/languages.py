"""Languages of programs: how each is built and run in the jail. A table, which installed packages extend.

A package extends it by an entry point of the group ``dressage.languages`` whose value is a ``Language``; the platform
and the workers read the same table, so it is installed on both.
"""

import logging
import re
from dataclasses import dataclass
from importlib.metadata import entry_points

log = logging.getLogger("dressage.plugins")

GROUP = "dressage.languages"


@dataclass(frozen=True, slots=True)
class Language:
    """How programs of a language are built once and run on each input.

    Commands are lists of words; the first is looked for in ``/usr/bin`` and ``/bin`` unless it begins with ``./``. In
    them ``{source}`` is the program's file, ``{main}`` what ``main`` finds and ``{memory_mb}`` the grader's memory.
    """

    name: str
    fences: frozenset[str]
    """Words by which fences name the language, in lower case."""
    source: str
    """Name of the program's file; ``{main}`` in it is what ``main`` finds."""
    run: tuple[str, ...]
    """Command that runs the program; empty for Python, which the jail runs itself."""
    build: tuple[str, ...] = ()
    """Command that runs once before; empty where there is nothing to build."""
    artefacts: tuple[str, ...] = ()
    """Patterns of the files that the build leaves and the run needs."""
    main: tuple[str, ...] = ()
    """Regular expressions whose first group is looked for in the program; the first match of the first of them that
    matches counts."""
    otherwise: str = "Main"
    """What ``{main}`` is where nothing matches."""
    variants: tuple[tuple[str, str], ...] = ()
    """Other names of the file for programs that hold a match of a regular expression."""
    reserves: bool = False
    """Whether the runtime reserves far more addresses than it uses, so that only memory in use is limited."""
    processes: int = 32
    """Processes and threads that a program may have."""

    def file(self, code: str) -> str:
        """Name of the file of a program."""
        for pattern, name in self.variants:
            if re.search(pattern, code, re.MULTILINE):
                return name
        return self.source.replace("{main}", self.main_of(code))

    def main_of(self, code: str) -> str:
        """Name of the part of a program that is run."""
        for pattern in self.main:
            if match := re.search(pattern, code):
                return match.group(1)
        return self.otherwise

    def command(self, words: tuple[str, ...], code: str, memory_mb: int) -> list[str]:
        """A command with its places filled in."""
        values = {"{source}": self.file(code), "{main}": self.main_of(code), "{memory_mb}": str(memory_mb)}
        filled = []
        for word in words:
            for place, value in values.items():
                word = word.replace(place, value)
            filled.append(word)
        return filled


BUILT_IN = (
    Language("python", frozenset({"python", "py", "python3", "py3", "python2"}), "solution.py", ()),
    Language("bash", frozenset({"bash", "sh", "shell", "zsh"}), "main.sh", ("bash", "{source}")),
    Language(
        "c", frozenset({"c", "h"}), "main.c", ("./main",),
        build=("gcc", "-O1", "-o", "main", "{source}", "-lm"), artefacts=("main",),
    ),
    Language(
        "cpp", frozenset({"cpp", "c++", "cc", "cxx", "hpp"}), "main.cpp", ("./main",),
        build=("g++", "-O1", "-std=gnu++17", "-o", "main", "{source}"), artefacts=("main",),
    ),
    Language(
        "javascript", frozenset({"javascript", "js", "node", "nodejs", "mjs", "cjs"}), "main.js",
        ("node", "--max-old-space-size={memory_mb}", "{source}"),
        variants=((r"^\s*(import\s[^(]|export\s)", "main.mjs"),), reserves=True, processes=64,
    ),
    Language(
        "java", frozenset({"java"}), "{main}.java",
        ("java", "-Xmx{memory_mb}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", ".", "{main}"),
        build=("javac", "-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1", "-d", ".", "{source}"),
        artefacts=("*.class",),
        main=(
            r"(?m)^public\s+(?:final\s+|abstract\s+)*class\s+(\w+)",
            r"(?ms)^(?:\w+\s+)*class\s+(\w+)[^{]*\{(?:(?!^\}|^(?:\w+\s+)*class\s).)*?\bstatic\s+void\s+main\b",
        ),
        reserves=True, processes=64,
    ),
)  # fmt: skip


def _table() -> dict[str, Language]:
    found = {language.name: language for language in BUILT_IN}
    for entry in entry_points(group=GROUP):
        try:
            language = entry.load()
        except Exception as error:  # a package that cannot be used takes nothing else down
            log.error("language %r left out: %s cannot be loaded: %s", entry.name, entry.value, error)
            continue
        if not isinstance(language, Language) or language.name != entry.name or language.name in found:
            log.error("language %r left out: %s is no Language of that name, or it is taken", entry.name, entry.value)
            continue
        found[language.name] = language
    return found


LANGUAGES = _table()
"""Languages by name: those of the platform, then those of installed packages."""
