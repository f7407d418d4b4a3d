"""Runs the processes under circus: starts them in order, restarts those that die, stops the servers last."""

import logging
from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

import psutil
from circus.arbiter import Arbiter
from circus.exc import ConflictError
from circus.watcher import Watcher
from tornado import gen

from dressage.config import Config
from dressage.embedded.sockets import socket_dir
from dressage.supervisor.output import PrefixedOutput
from dressage.supervisor.pipes import let_go_of_pipes
from dressage.supervisor.processes import Process, base_environment

_LOOK_AGAIN = 0.05
"""Seconds."""


class _ServersLast(Arbiter):
    """Stops servers last. Circus stops everything at the same time, and clients of a server would then log errors."""

    servers: frozenset[str] = frozenset()

    @gen.coroutine
    def stop(self) -> Generator[Any, Any, None]:
        """Stop everything, after the running command: circus refuses to stop while it starts or restarts a process.

        With Ctrl-C, nothing would read the refusal and try again.
        """
        self._stopping = True
        while self._exclusive_running_command is not None:
            yield gen.sleep(_LOOK_AGAIN)
        yield super().stop()

    @gen.coroutine
    def _start_watchers(
        self, watcher_iter_func: Callable[..., list[Watcher]] | None = None
    ) -> Generator[Any, Any, None]:
        for watcher in (watcher_iter_func or self.iter_watchers)():
            if self._stopping:
                return
            yield watcher._start()
            yield gen.sleep(0)  # for a signal that has arrived in the meantime

    @gen.coroutine
    def _stop_watchers(
        self, close_output_streams: bool = False, watcher_iter_func: Callable[..., list[Watcher]] | None = None
    ) -> Generator[Any, Any, None]:
        watchers = (watcher_iter_func or self.iter_watchers)(reverse=False)
        for servers in (False, True):
            chosen = [watcher for watcher in watchers if (watcher.name in self.servers) is servers]
            yield gen.multi([watcher._stop(close_output_streams) for watcher in chosen])


def make_arbiter(
    config: Config, processes: list[Process], before: dict[str, Callable[[], None]], family: list[psutil.Process]
) -> Arbiter:
    """A circus arbiter over ``processes``.

    Args:
        config: the installation.
        processes: in the order in which they start.
        before: per process name, what must happen before its first start (wait for the database, migrate).
        family: filled with the descendants of each process when it is stopped; see ``end``.
    """
    environment = base_environment(config)
    width = max(len(process.name) for process in processes)
    as_json = config.resolved_log_format == "json"
    watchers = []
    for index, process in enumerate(processes):
        output = {"stream": PrefixedOutput(process.name, index, width, process.muted, as_json)}
        watcher: dict[str, Any] = {
            "name": process.name,
            "cmd": process.command[0],
            "args": process.command[1:],
            "env": {name: value for name, value in (environment | process.env).items() if name not in process.hidden},
            "priority": len(processes) - index,
            "stop_signal": process.stop_signal,
            "stop_children": False,
            "graceful_timeout": process.stop_seconds,
            "max_retry": -1,
            "stdout_stream": output,
            "stderr_stream": output,
            "close_child_stdin": True,
        }
        watcher["hooks"] = {"before_stop": (_remember(family), True), "before_reap": (let_go_of_pipes, True)}
        if process.name in before:
            watcher["hooks"]["before_start"] = (_hook(before[process.name]), False)
        watchers.append(watcher)
    logging.getLogger("circus").setLevel(logging.WARNING)
    logging.getLogger("tornado.application").addFilter(_is_not_a_conflict)
    endpoints = socket_dir(config.home, "circus")
    arbiter = _ServersLast(
        [Watcher.load_from_config(watcher) for watcher in watchers],
        f"ipc://{endpoints / 'control'}",
        f"ipc://{endpoints / 'events'}",
        check_delay=0.5,
        proc_name="dressage",
    )
    arbiter.servers = frozenset(process.name for process in processes if process.is_server)
    return arbiter


def end(family: list[psutil.Process], seconds: float = 5.0) -> None:
    """Kill processes that have outlived their parent: Ray's agents and actors exit on their own, but often late."""
    _, alive = psutil.wait_procs(family, timeout=seconds)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _remember(family: list[psutil.Process]) -> Callable[..., bool]:
    def run(watcher: Watcher, *_: object, **__: object) -> bool:
        for pid in watcher.processes:
            with suppress(psutil.NoSuchProcess):
                family.extend(psutil.Process(pid).children(recursive=True))
        return True

    return run


def _is_not_a_conflict(record: logging.LogRecord) -> bool:
    """Drop the message that circus's periodic check logs when it collides with the stop of all processes."""
    return record.exc_info is None or not isinstance(record.exc_info[1], ConflictError)


def _hook(action: Callable[[], None]) -> Callable[..., bool]:
    def run(*_: object, **__: object) -> bool:
        action()
        return True

    return run
