"""Template of grading processes: has loaded the graders, and forks whenever its owner asks for another.

A fork of this process takes milliseconds and shares its memory; a fork of the owner, which has threads, might hang.
It ends as soon as its owner closes the control socket, and the kernel then ends its children.
"""

import contextlib
import ctypes
import errno
import gc
import os
import resource
import select
import signal
import socket
import sys

from trainer_core.rewards.isolated.process import FORKED, MESSAGE_BYTES, OUT_OF_MEMORY, REFUSED

_PR_SET_PDEATHSIG = 1
_FIRST_FREE = 3
"""First descriptor behind those of standard input, output and errors."""
_FDS = 2
"""Descriptors that come with a request: the child's channel, and the pipe for how it ended."""


def main() -> None:
    """Serve. Arguments: descriptor of the control socket, memory limit in bytes, niceness."""
    control, memory_bytes = socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2])
    os.nice(int(sys.argv[3]))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    from trainer_core.rewards.isolated import child

    assert child.serve is not None
    gc.collect()
    gc.freeze()  # the children then share these pages for good
    control.send(b"ready")
    Template(control, memory_bytes).serve()


class Template:
    """Forks children and tells how each of them ended."""

    def __init__(self, control: socket.socket, memory_bytes: int) -> None:
        self._control, self._memory_bytes = control, memory_bytes
        self._children: dict[int, tuple[int, int]] = {}
        """(process id, pipe for its end), by the descriptor of the process."""
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)

    def serve(self) -> None:
        """Go on until the owner hangs up."""
        while True:
            for ready, _ in self._poll.poll():
                if ready != self._control.fileno():
                    self._ended(ready)
                elif not self._request():
                    return

    def _request(self) -> bool:
        message, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, _FDS)
        if not message:
            return False
        try:
            handle = self._fork(descriptors)
        except OSError as error:  # too many processes or files: that request fails, and no grade in progress
            self._control.send(REFUSED + os.strerror(error.errno or 0).encode())
            return True
        socket.send_fds(self._control, [FORKED], [handle])
        return True

    def _fork(self, descriptors: list[int]) -> int:
        """A handle of a new child. Raises OSError where there can be none; then nothing is left of it."""
        process = 0
        try:
            if len(descriptors) < _FDS:  # the kernel has left out what this process has no room for
                raise OSError(errno.EMFILE, "")
            channel, status = descriptors
            process = os.fork()
            if process == 0:
                self._become_child(channel)
            handle = os.pidfd_open(process)
        except OSError:
            if process:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
            for descriptor in descriptors:
                os.close(descriptor)
            raise
        os.close(channel)
        self._children[handle] = (process, status)
        self._poll.register(handle, select.POLLIN)
        return handle

    def _become_child(self, channel: int) -> None:
        from trainer_core.rewards.isolated.child import serve

        try:
            ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            # Nothing of the template's or of other children's is kept, or their owners would not hear of their ends.
            os.dup2(channel, _FIRST_FREE)
            os.closerange(_FIRST_FREE + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
            serve(socket.socket(fileno=_FIRST_FREE), self._memory_bytes)
        except OSError:
            pass  # the owner has gone
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        finally:
            os._exit(0)

    def _ended(self, handle: int) -> None:
        process, status = self._children.pop(handle)
        self._poll.unregister(handle)
        _, code = os.waitpid(process, 0)
        with contextlib.suppress(BrokenPipeError):  # its owner did not wait to hear it
            os.write(status, str(os.waitstatus_to_exitcode(code)).encode())
        os.close(status)
        os.close(handle)


if __name__ == "__main__":
    main()
