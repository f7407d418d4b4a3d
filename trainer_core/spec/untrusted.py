"""Checks of text that a caller wrote and that has to be compiled: source code, patterns, schemas.

A few hundred kilobytes can occupy a compiler for minutes and a few bytes can fill the memory, in one call of a C
function that lets no other thread run. A process that serves others therefore replaces the place where checks run:
``set_runner`` takes a function that runs them in another process, within limits.
"""

from collections.abc import Callable

Check = Callable[[str], str | None]
"""Returns what is wrong with a text, or None. A function of a module, so that another process finds it by its name."""
Runner = Callable[[Check, str], str | None]


def _here(check: Check, text: str) -> str | None:
    return check(text)


_runner: Runner = _here


def set_runner(runner: Runner | None) -> None:
    """Have ``runner`` run the checks of this process; None: this process runs them itself, without a limit."""
    global _runner
    _runner = runner or _here


def refuse_if(check: Check, text: str) -> None:
    """Raise ValueError with the fault of ``text`` if it has one: for validators of specs and definitions."""
    if (fault := _runner(check, text)) is not None:
        raise ValueError(fault)


def python_fault(source: str) -> str | None:
    """Reason why ``source`` is not a Python program, or None. Nothing is run."""
    try:
        compile(source, "<source>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"not a Python program: {error}"
    return None
