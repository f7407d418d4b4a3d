"""Starts the parts of a run that a rehearsal needs: one engine, a reward worker, the data; no learner."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from trainer_core.link.jobs import REHEARSAL
from trainer_core.methods.loading import load_formulas
from trainer_core.spec.plugins import PluginError
from trainer_core.steering.curriculum import Curriculum
from worker.cluster import actors as cluster
from worker.cluster.closed import check_closed
from worker.cluster.placement import check_one_node, place, usable_gpus
from worker.engine.tokenizer import PolicyTokenizer
from worker.errors import StartError
from worker.judge.servers import SERVER_CPUS, served, start_servers
from worker.loop.dispatch import Dispatcher
from worker.loop.folders import check_policy_folder, check_trainable
from worker.loop.lengths import room_check
from worker.loop.parts import PromptRows
from worker.loop.startup import Startup, Tick
from worker.loop.steering import Steering
from worker.rewards.pool import RewardPool
from worker.rewards.versions import RewardVersions
from worker.rollout.branches import Brancher
from worker.rollout.generation import GenerationStage
from worker.rollout.router import Router
from worker.rollout.timeline import Timeline
from worker.rollout.worker import rollout_actor_class

ENGINE_CPUS = 0.0
"""CPUs reserved with Ray for the engine. A run that starts in the meantime never waits for a rehearsal to end."""


@dataclass(frozen=True, slots=True)
class RehearsalParts:
    """All started parts."""

    generation: GenerationStage
    dispatcher: Dispatcher
    """Creates the groups as the run's own dispatcher does."""
    tokenizer: PolicyTokenizer
    sources: dict[str, PromptRows]
    versions: RewardVersions


class RehearsalStartup(Startup):
    """The parts of a run's start that a rehearsal needs. ``close`` stops everything that has started."""

    def open(self, batch: int, tick: Tick) -> RehearsalParts:
        """Start them and wait for them.

        Args:
            batch: number of groups that are sampled at the same time.
            tick: see ``Tick``.

        Raises:
            StartError: something cannot work; the message is for the person who rehearses.
        """
        bundle, spec = self.bundle, self.bundle.spec
        try:
            load_formulas(spec)
        except PluginError as error:
            raise StartError(f"The run's methods cannot be loaded: {error}") from error
        check_closed()
        judges = len(served(bundle.judges))
        if judges:
            cluster.check_resources(SERVER_CPUS * judges, "rehearsal")
        each = spec.rollout.engine.devices
        scoring, wide = bool(bundle.reward_models), int(each > 1)
        self._placement = place(1 + judges, 0, usable_gpus(), scoring=scoring, wide=wide, each=each)
        check_one_node(each, ENGINE_CPUS, self._placement)
        check_policy_folder(bundle.policy.path)
        check_trainable(bundle.policy.path, spec)
        tokenizer = PolicyTokenizer(bundle.policy.path)
        self._tell_tags(tokenizer)
        config = self._engine_config(bundle.policy.path, tokenizer.think_tokens(spec.thinking))
        engines = Router(self._spawn_engine, 1, config, spec.rollout.engine.tolerance, batch, self._notify)
        self._closers.callback(engines.close)
        self._judges = start_servers(bundle.judges, lambda slug: self._name(f"judge-{slug}", 0, 0), self._gpus)
        self._closers.callback(self._judges.close)
        timeout_s = spec.reward.timeout_seconds
        rewards = RewardPool(self._spawn_reward, bundle.versions, 1, timeout_s, self._notify)
        self._closers.callback(rewards.close)
        with ThreadPoolExecutor(1) as loader:
            data = loader.submit(self._load_data, tokenizer)
            started = {"engine": engines.started, "judge": self._judges.started, "reward": rewards.started}
            self._await(started, {"data": data}, tick)
        brancher = Brancher(tokenizer.token_text, config.think)
        generation = GenerationStage(engines, rewards, Timeline(), threading.Event().set, brancher)
        self._closers.callback(generation.close)
        return self._parts(tokenizer, data.result()[0], generation)

    def _parts(
        self, tokenizer: PolicyTokenizer, sources: dict[str, PromptRows], generation: GenerationStage
    ) -> RehearsalParts:
        spec = self.bundle.spec
        versions = RewardVersions(spec, self.bundle.versions, {}, generation.equip)
        dispatcher = Dispatcher(
            Steering(spec, self.bundle.revision, room_check(sources), versions.objection),
            Curriculum(
                spec,
                {name: data.rows for name, data in sources.items()},
                spec.schedule.seed,
                {name: data.prior for name, data in sources.items()},
            ),
            sources,
            generation,
            tokenizer,
            after=0,
            threshold=versions.threshold,
            state=None,
        )
        return RehearsalParts(generation, dispatcher, tokenizer, sources, versions)

    @property
    def _gpus(self) -> float:
        return self._placement.gpus

    def _spawn_engine(self, index: int, generation: int) -> Any:
        each = self.bundle.spec.rollout.engine.devices
        name = self._name("rollout", index, generation)
        options = cluster.actor_options(name, ENGINE_CPUS * each, self._gpus * each)
        return rollout_actor_class().options(**options).remote()

    def _actor(self) -> str:
        """Name of the actor after which its own actors are named."""
        return REHEARSAL.actor(self.bundle.run_id)

    def _name(self, role: str, index: int, generation: int) -> str:
        return f"{self._actor()}/{role}-{index}.{generation}"
