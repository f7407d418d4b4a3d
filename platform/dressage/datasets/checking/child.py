"""The child process of a check: reads its order from standard input and answers with one line of JSON.

The file is an inherited open descriptor. The process has no database access and no secrets. It ends when its parent
does, because its input is closed then.
"""

import json
import os
import resource
import sys
import threading
from typing import Any

from django.conf import settings

from dressage.datasets.checking.answers import OUT_OF_MEMORY, of_problem


def main() -> None:
    """Carry out an order. Arguments: descriptor of the file, memory limit in bytes, niceness, processor time in s."""
    descriptor, memory, nice, cpu_s = map(int, sys.argv[1:])
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))  # the first limit sends SIGXCPU, which ends it
    os.nice(nice)
    settings.configure()
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    print(json.dumps(_answer(descriptor, order)), flush=True)
    os._exit(0)  # skips the seconds that freeing gigabytes piece by piece can take


def _answer(descriptor: int, order: Any) -> dict[str, Any]:
    # Imported here, after the memory limit is set.
    import pyarrow as pa

    from dressage.common.api.problems import Problem
    from dressage.datasets.checking.check import TooManyRows, check

    pa.set_cpu_count(1)
    try:
        with os.fdopen(descriptor, "rb") as file:
            return {"checked": check(file, order)}
    except Problem as problem:
        return {"problem": of_problem(problem)}
    except TooManyRows:
        return {"too_many_rows": True}
    except MemoryError:
        return {OUT_OF_MEMORY: True}
    except OSError as error:
        if error.errno is None:
            raise
        return {"os_error": [error.errno, error.strerror]}


def _end_with_parent() -> None:
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
