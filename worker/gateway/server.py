"""A served policy: an engine, and the HTTP server beside it, in one Ray actor."""

from __future__ import annotations

import threading

import uvicorn

from worker.cluster.network import bind_gateway
from worker.gateway.app import Gateway, build_app
from worker.judge.served import JudgeServer

KEEP_ALIVE_S = 75
"""Seconds that a connection stays open between two requests, so that clients need not connect again."""


class PolicyServer(JudgeServer):
    """Ray actor. Requests enter the engine from the server's own thread, beside those of ``reply``."""

    def listen(self, model: str, key_sha256: str) -> str:
        """Begin to serve over HTTP, after ``start``. Returns the base URL for clients.

        Args:
            model: name by which requests call the policy.
            key_sha256: hash of the key that every request must have.

        Raises:
            ClusterError: the address of the settings cannot be used.
        """
        self._gateway = Gateway(model, self._engine, self._tokenizer, self._eos, self._max_length)
        listener, address = bind_gateway()
        listener.listen(2048)
        config = uvicorn.Config(
            build_app(self._gateway, key_sha256),
            lifespan="off",
            ws="none",
            log_config=None,  # the actor's own handlers
            access_log=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
        )
        server = uvicorn.Server(config)
        threading.Thread(target=server.run, args=([listener],), name="gateway", daemon=True).start()
        return f"http://{address}/v1"

    def idle_s(self) -> float:
        """Seconds since the last completion over HTTP ended; 0 while one is generated."""
        return self._gateway.idle_s
