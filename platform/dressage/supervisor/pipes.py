"""The pipes of a process that has ended."""

import os
import select

from circus.watcher import Watcher

_MOST = 1 << 20
"""Bytes that are read of one pipe: children of the process may hold its other end and go on writing."""
_PIECE = 1 << 16


def let_go_of_pipes(watcher: Watcher, *, process_pid: int, **_: object) -> bool:
    """Hand on the last words of a process, then stop to listen to its pipes. A hook of circus, before it reaps.

    Circus closes the pipes but goes on to listen where it has not seen their end: it had no turn yet, or a child of the
    process holds the other end. The numbers of the closed pipes are given to the next process. If that is another
    watcher's, circus finds its number taken, and drops the process from its list, running: it starts a second one, and
    never stops the first.
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
    """Content of a pipe, without a wait for more."""
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
