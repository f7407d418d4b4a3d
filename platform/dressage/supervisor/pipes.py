"""The pipes of a process that has ended."""

import os
import select

from circus.watcher import Watcher

_MOST = 1 << 20
"""Bytes that are read from one pipe: children of the process may hold its other end and continue writing."""
_PIECE = 1 << 16


def let_go_of_pipes(watcher: Watcher, *, process_pid: int, **_: object) -> bool:
    """Pass on the last output of a process, then stop listening to its pipes. A circus hook, called before it reaps.

    Circus closes the pipes but keeps listening if it has not seen their end: it had no turn yet, or a child of the
    process holds the other end. The next process gets the numbers of the closed pipes. If that process belongs to
    another watcher, circus finds its number taken, and drops the running process from its list: it starts a second one,
    and never stops the first.
    """
    process, redirector = watcher.processes.get(process_pid), watcher.stream_redirector
    if process is None or redirector is None:
        return True
    for number, (name, owner, _pipe) in list(redirector.pipes.items()):
        if owner is process:
            for data in _rest(number):
                redirector.redirect[name]({"data": data, "pid": process_pid, "name": name})
            redirector.remove_fd(number)
    return True


def _rest(number: int) -> list[bytes]:
    """Content of a pipe, without waiting for more."""
    found: list[bytes] = []
    read = 0
    poll = select.poll()
    poll.register(number, select.POLLIN)
    while read < _MOST and poll.poll(0):
        data = os.read(number, _PIECE)
        if not data:
            break
        found.append(data)
        read += len(data)
    return found
