"""Programs that are compiled once. The build is a separate job, and its files go into the jail of each run."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from trainer_core.rewards.graders.jail import JailError, Limits, Outcome, Program
from trainer_core.rewards.graders.languages import LANGUAGES

_CPU_S, _WALL_S, _MEMORY_MB, _FILES_BYTES = 30.0, 120.0, 2048, 48 << 20


def job(program: Program, find: Callable[[str], str]) -> dict[str, Any]:
    """The job that builds a program. ``find`` returns the path of an installed program."""
    known = LANGUAGES[program.language]
    words = known.command(known.build, program.code, program.memory_mb)
    return {
        "role": "build",
        "argv": [find(words[0]), *words[1:]],
        "files": {known.file(program.code): program.code},
        "artefacts": list(known.artefacts),
    }


def limits(program: Program) -> Limits:
    """Limits of a build. They are generous, as they say nothing about the program's speed."""
    known = LANGUAGES[program.language]
    return Limits(
        wall_s=_WALL_S, cpu_s=_CPU_S, memory_mb=_MEMORY_MB, processes=max(64, known.processes),
        output_bytes=_FILES_BYTES, address_space=not known.reserves,
    )  # fmt: skip


def program_of(program: Program, outcome: Outcome) -> Program:
    """The program with its build's files, or the compiler's messages. Raises JailError if the build left nothing."""
    if outcome.ok:
        try:
            return replace(program, files=json.loads(outcome.result))
        except ValueError as error:
            raise JailError(f"the build of a program left nothing: {error}") from error
    words = (outcome.errors or outcome.output).decode(errors="replace")[:4000]
    return replace(program, failure=words or f"the build ended by its limits ({outcome.end})")
