"""Routes of each request's tokens through a mixture of experts: reported by the model each step, kept per request."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from worker.engine.types import EngineError

Routes = NDArray[Any]
"""Chosen experts, uint8 or int16 [N, L, K]: K experts for each of N tokens in each of L layers."""


class RouteSource:
    """Reads the routes of each engine step from the model that has just run."""

    def __init__(self, runner: Any) -> None:
        """Watch a vLLM model runner whose steps are not recorded (``graphs.recording``).

        Raises:
            EngineError: the model reports no routes, or the runner does not show which requests they belong to.
        """
        if not hasattr(runner, "input_batch"):
            raise EngineError(
                "the engine cannot return routes with vLLM's second model runner: start workers with"
                " VLLM_USE_V2_MODEL_RUNNER=0, or set policy.routing.replay = false"
            )
        self._runner, self._model = runner, runner.get_model()
        if hasattr(self._model, "routes"):
            self._source: Any = self._model
            experts = self._model.config.num_local_experts
        else:
            self._source = self._watch()
            experts = self._source.experts
        self._dtype = np.uint8 if experts <= 256 else np.int16

    def _watch(self) -> Any:
        from worker.engine.models.vllm_routes import VllmRoutes, routed_layers

        layers = routed_layers(self._model)
        if not layers:
            raise EngineError(
                f"the engine cannot return the routes of {type(self._model).__name__}: it has no experts; set"
                " policy.routing.replay = false, and for a mixture of experts use the correction router_shift instead"
            )
        return VllmRoutes(layers, self._runner)

    def take(self) -> list[tuple[str, int, Routes]]:
        """(vLLM's request id, position of the first token, routes) of the requests in the last step."""
        told = self._source.routes()
        if told is None:
            return []
        experts, starts, positions = told
        rows, edges = experts.cpu().numpy().astype(self._dtype), starts.tolist()
        names = self._runner.input_batch.req_ids
        return [
            (names[number], first, rows[edges[number] : edges[number + 1]])
            for number, first in enumerate(positions.tolist())
        ]


class RouteRecorder:
    """Routes of one request, by position in its sequence. A position that is recomputed after a preemption keeps its
    first route: the token was sampled with it."""

    __slots__ = ("_chunks", "_filled")

    def __init__(self, prefix: Routes | None) -> None:
        """Start with the routes of a parked request, if any."""
        self._chunks = [] if prefix is None else [prefix]
        self._filled = 0 if prefix is None else len(prefix)

    def feed(self, first: int, routes: Routes) -> None:
        """Account for the tokens from position ``first`` on.

        Raises:
            EngineError: tokens before them were never computed.
        """
        if first > self._filled:
            raise EngineError(f"routes of tokens {self._filled} to {first - 1} are missing: they were not computed")
        new = routes[self._filled - first :]
        if len(new):
            self._chunks.append(new)
            self._filled += len(new)

    def routes(self, tokens: int) -> Routes | None:
        """Routes of the first ``tokens`` positions; None before the first step. Forced tokens after the last computed
        one repeat its route, which nothing depends on."""
        if not self._chunks:
            return None
        found = np.concatenate(self._chunks)[: max(tokens, 0)]
        self._chunks = [found]
        self._filled = len(found)
        missing = tokens - len(found)
        return found if missing <= 0 else np.concatenate([found, np.repeat(found[-1:], missing, axis=0)])
