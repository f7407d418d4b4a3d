"""Start everything a run needs, in parallel: engines, learner, reward workers, data. Any failure is one sentence."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from trainer_core.link.bundle import Bundle
from trainer_core.link.reward import Versions
from trainer_core.methods.loading import load_formulas
from trainer_core.planning.active import active_parameters
from trainer_core.planning.compute import Peaks
from trainer_core.prompting.format import evaluation_format
from trainer_core.rewards.answers import no_generation_prompt
from trainer_core.spec.data.prompt_format import PromptFormat
from trainer_core.spec.generation.thinking import TaggedThinking
from trainer_core.spec.plugins import PluginError
from worker.cluster import actors as cluster
from worker.cluster.closed import check_closed
from worker.cluster.cores import LEAST_PARAMETERS, board
from worker.cluster.notify import Notify
from worker.cluster.placement import Placement, check_one_node, go_on_with, place, usable_gpus
from worker.cluster.reservation import Need, ReservedRoom, check_room
from worker.engine import EngineConfig
from worker.engine.from_spec import concurrency, devices, fp8
from worker.engine.tokenizer import PolicyTokenizer
from worker.errors import ClusterError, LearnerLost, StartError
from worker.judge.client import JudgeClient
from worker.judge.open import JudgeSetup, open_judges
from worker.judge.servers import SERVER_CPUS, served, start_servers
from worker.judge.use import Tally
from worker.learner.stage import LearningStage, number_types
from worker.learner.transport.choice import Travel, choose
from worker.learner.transport.topology import topology
from worker.link.platform import Platform
from worker.loop.evaluation import EvaluationSet
from worker.loop.folders import check_checkpoint, check_policy_folder, check_trainable
from worker.loop.lengths import check_lengths, longest_prompts
from worker.loop.parts import PromptRows, RunParts
from worker.rewards.evolution import CONTRASTS_AT_ONCE
from worker.rewards.pool import RewardPool
from worker.rewards.worker import CHUNKS_AT_ONCE, RewardConfig, RewardWorker
from worker.rollout.branches import Brancher
from worker.rollout.generation import GenerationStage
from worker.rollout.router import Router
from worker.rollout.timeline import Timeline
from worker.rollout.worker import rollout_actor_class
from worker.scoring.equipped import ToolSetup
from worker.seeds import derive_seed

ENGINE_CPUS = 1.0
LEARNER_CPUS = 0.5
"""CPUs reserved with Ray per engine and per learner rank. The rest of a run reserves none."""

Tick = Callable[[int, int], None]
"""(parts started, total parts): called while waiting; may raise to give up."""


class Startup:
    """One attempt's start. ``close`` undoes everything that has been started."""

    def __init__(self, bundle: Bundle, platform: Platform, notify: Notify) -> None:
        self.bundle, self._platform, self._notify = bundle, platform, notify
        self._room: ReservedRoom | None = None
        self._beside_gpus = 0.0
        """GPUs that judges and reward workers reserve, once they have been started."""
        self._closers = ExitStack()
        self._told_template = False

    def run(self, tick: Tick) -> RunParts:
        """Start everything and wait for it.

        Raises:
            StartError: something cannot work; the message is for the user who started the run.
        """
        bundle, spec = self.bundle, self.bundle.spec
        started = time.perf_counter()
        try:
            load_formulas(spec)
        except PluginError as error:
            raise StartError(f"The run's methods cannot be loaded: {error}") from error
        workers, ranks = spec.parallelism.rollout_workers, spec.parallelism.learner_ranks
        least = min(spec.parallelism.least_rollout_workers or workers, workers)
        check_closed()
        judges = len(served(bundle.judges))
        each = spec.rollout.engine.devices
        self._placement = self._place(least, judges, ranks, each)
        if bundle.attempt == 1 and not cluster.grows_to():
            check_one_node(each, ENGINE_CPUS, self._placement)
        room = self._reservation(workers, least, judges)
        travel = self._travel()
        teacher, reference = self._check_folders()
        # Engines start from a folder that stays, also late ones, and get their weights from the learner. The checkpoint
        # is deleted once newer ones have replaced it.
        tokenizer = PolicyTokenizer(bundle.policy.path)
        self._tell_tags(tokenizer)
        config = self._engine_config(bundle.policy.path, tokenizer.think_tokens(spec.thinking))
        seconds = {"checks": time.perf_counter() - started}
        self._closers.callback(room.close)
        self._room = room
        room.obtain(lambda: tick(0, 1))
        seconds["room"] = time.perf_counter() - started - seconds["checks"]
        learning = LearningStage()
        engines = Router(
            self._spawn_engine,
            workers,
            config,
            spec.rollout.engine.tolerance,
            spec.schedule.prompts_per_step,
            self._notify,
            least,
            learning.lives,
            room.engine_node,
        )
        self._closers.callback(engines.close)
        self._closers.callback(learning.close)
        device, gpus = self._placement.device, self._placement.gpus
        options = cluster.actor_options(None, LEARNER_CPUS, gpus)
        checkpoint = bundle.resume.path if bundle.resume else None
        learner = learning.start(
            bundle.policy.path,
            spec,
            options,
            checkpoint,
            teacher,
            device,
            self._cores,
            travel,
            room.learner,
            reference,
        )
        self._judges = start_servers(bundle.judges, lambda slug: self._name(f"judge-{slug}", 0, 0), gpus)
        self._closers.callback(self._judges.close)
        rewards = RewardPool(
            self._spawn_reward,
            bundle.versions,
            spec.parallelism.reward_workers,
            spec.reward.timeout_seconds,
            self._notify,
        )
        self._closers.callback(rewards.close)
        self._beside_gpus = gpus * judges + self._placement.scoring_gpus
        with ThreadPoolExecutor(1) as loader:
            data = loader.submit(self._load_data, tokenizer)
            took = self._await(
                {"engine": engines.started, "judge": self._judges.started, "reward": rewards.started},
                {"learner": learner, "data": data},
                tick,
            )
        seconds |= took
        seconds["all"] = time.perf_counter() - started
        timeline, woken = Timeline(), threading.Event()
        brancher = Brancher(tokenizer.token_text, config.think)
        generation = GenerationStage(engines, rewards, timeline, woken.set, brancher)
        self._closers.callback(generation.close)
        sources, evaluations = data.result()
        state = learner.result()[0]
        return RunParts(
            generation,
            learning,
            tokenizer,
            sources,
            evaluations,
            state,
            timeline,
            partial(self._open_judges, generation.tally),
            woken,
            seconds,
            self._active,
            self._peaks(learning.peaks(number_types(spec)).result()),
            device,
        )

    def _check_folders(self) -> tuple[Path | None, Path | None]:
        """Refuse policies and checkpoints that cannot be used. Returns the folders of teacher and reference."""
        bundle = self.bundle
        if bundle.policy.manifest_sha256:
            check_checkpoint(bundle.policy.path, bundle.policy.manifest_sha256)
        check_policy_folder(bundle.policy.path)
        check_trainable(bundle.policy.path, bundle.spec)
        self._active = active_parameters(bundle.policy.path)
        teacher, reference = (None if one is None else one.path for one in (bundle.teacher, bundle.reference))
        for folder in (teacher, reference):
            if folder is not None:
                check_policy_folder(folder)
        if bundle.resume is not None:
            check_checkpoint(bundle.resume.path, bundle.resume.manifest_sha256)
        return teacher, reference

    def gpus_held(self) -> float:
        """GPUs that the attempt holds now. May be called from any thread."""
        return 0.0 if self._room is None else self._room.gpus_held() + self._beside_gpus

    def close(self) -> None:
        """Kill all actors that have been started, even if one of them cannot be killed."""
        self._closers.close()

    def _await(
        self, refs: dict[str, list[ray.ObjectRef]], futures: dict[str, Future[Any]], tick: Tick
    ) -> dict[str, float]:
        """Wait for all parts; the first failure ends the start. Returns the seconds each kind of part took."""
        pending = {ref: name for name, group in refs.items() for ref in group}
        left = dict(futures)
        total = len(pending) + len(left)
        seconds: dict[str, float] = {}
        while pending or left:
            ready = ray.wait(list(pending), num_returns=1, timeout=0.1)[0] if pending else []
            if not pending:
                time.sleep(0.02)
            try:
                for ref in ready:
                    seconds[pending.pop(ref)] = ray.get(ref)
                for name in [name for name, future in left.items() if future.done()]:
                    result = left.pop(name).result()
                    if name == "learner":
                        seconds["learner"] = result[1]
            except (RayActorError, RayTaskError, LearnerLost, ValueError, OSError) as error:
                raise StartError(_sentence(error)) from error
            tick(total - len(pending) - len(left), total)
        return seconds

    def _travel(self) -> Travel:
        """Choose how weights are transferred. An impossible choice is refused before anything starts."""
        spec, placement = self.bundle.spec, self._placement
        engines, folder = spec.parallelism.rollout_workers, f"run-{self.bundle.run_id}"
        found = Travel(spec.rollout.weight_transport, topology(engines, placement.device, placement.gpus, folder))
        self._closers.callback(choose(found).clean, found)
        return found

    def _spawn_engine(self, index: int, generation: int) -> Any:
        each = self.bundle.spec.rollout.engine.devices
        name, gpus = self._name("rollout", index, generation), self._placement.gpus * each
        options = cluster.actor_options(name, ENGINE_CPUS * each, gpus)
        assert self._room is not None
        return rollout_actor_class().options(**options, **self._room.engine(index)).remote(self._cores)

    def _place(self, engines: int, judges: int, ranks: int, each: int) -> Placement:
        kept = self.bundle.run_dir / "placement.json"
        try:
            scoring, wide = bool(self.bundle.reward_models), engines if each > 1 else 0
            now = place(engines + judges, ranks, usable_gpus(), scoring=scoring, wide=wide, each=each)
        except ClusterError:
            if not kept.exists():
                raise
            now = Placement()  # too few GPUs are left: the previous attempt's placement counts
        return go_on_with(now, kept)

    def _reservation(self, workers: int, least: int, judges: int) -> ReservedRoom:
        bundle, gpus, parallelism = self.bundle, self._placement.gpus, self.bundle.spec.parallelism
        each = self.bundle.spec.rollout.engine.devices
        engines = Need("engine", workers, ENGINE_CPUS * each, gpus * each, devices=each)
        together = parallelism.learner_placement == "pack"
        learners = Need("learner rank", parallelism.learner_ranks, LEARNER_CPUS, gpus, together)
        needed = [replace(engines, count=least), learners, Need("judge", judges, SERVER_CPUS, gpus)]
        if scoring := self._placement.scoring_gpus:
            needed.append(Need("reward worker", parallelism.reward_workers, 0.0, scoring / parallelism.reward_workers))
        check_room(needed, went_before=bundle.attempt > 1)
        name = cluster.controller_name(bundle.run_id, bundle.attempt)
        return ReservedRoom(name, engines, learners, least, self._notify)

    def _peaks(self, measured: dict[str, float]) -> Peaks:
        """Peaks of all devices: a host's cores are counted together, GPUs one by one."""
        spec, placement = self.bundle.spec, self._placement
        engines = spec.parallelism.rollout_workers * spec.rollout.engine.devices
        models = engines + spec.parallelism.learner_ranks
        used = max(1, math.ceil(models * placement.gpus))
        engine, learner = number_types(spec)
        return Peaks(used * measured[engine], used * measured[learner])

    @property
    def _cores(self) -> str | None:
        """Board of the processes that share a host's cores; None if one core each is best."""
        if self._placement.device != "cpu" or self._active < LEAST_PARAMETERS:
            return None
        return board(self.bundle.run_dir.parent)

    def _spawn_reward(self, index: int, generation: int, versions: Versions) -> Any:
        bundle, spec = self.bundle, self.bundle.spec
        config = RewardConfig(
            versions=versions,
            thinking=spec.thinking,
            model_dir=bundle.policy.path,
            overlong=spec.reward.overlong,
            timeout_s=spec.reward.timeout_seconds,
            tools=ToolSetup(
                judges=self._judge_setups(str(index))[0],
                reward_models=bundle.reward_models,
                processes=spec.parallelism.reward_workers,
            ),
        )
        gpus = self._placement.scoring_gpus / spec.parallelism.reward_workers
        options = cluster.actor_options(self._name("reward", index, generation), num_gpus=gpus)
        worker = ray.remote(RewardWorker).options(**options, max_concurrency=CHUNKS_AT_ONCE).remote()
        worker.configure.remote(config)
        return worker

    def _open_judges(self, tally: Tally) -> JudgeClient:
        client = open_judges(self._judge_setups("evolution")[1], tally)
        self._closers.callback(client.close)
        return client

    def _judge_setups(self, name: str) -> tuple[JudgeSetup, JudgeSetup]:
        """Setups (for rewards, for evolving rubrics) that together stay within the limit of each endpoint."""
        answers = self.bundle.run_dir / "judge-answers" / f"{name}.sqlite"
        setup, evolve = JudgeSetup(self.bundle.judges, self._judges.handles, answers), self.bundle.spec.reward.evolve
        return (setup, setup) if evolve is None else setup.lend(evolve.endpoint, CONTRASTS_AT_ONCE)

    def _name(self, role: str, index: int, generation: int) -> str:
        return cluster.worker_name(self.bundle.run_id, self.bundle.attempt, role, index, generation)

    def _engine_config(self, model_dir: Path, think: Any) -> EngineConfig:
        spec, engine = self.bundle.spec, self.bundle.spec.rollout.engine
        return EngineConfig(
            model_dir=str(model_dir),
            dtype=engine.dtype,
            max_model_len=engine.max_model_len,
            max_num_seqs=engine.max_num_seqs,
            kv_cache_gib=engine.kv_cache_gib,
            seed=derive_seed(spec.schedule.seed, "engine") % 2**31,
            lm_head_dtype=engine.lm_head_dtype,
            concurrency=concurrency(engine.concurrency),
            speculation=engine.speculation,
            cuda_graphs=engine.cuda_graphs,
            fp8=fp8(engine.quantization),
            think=think,
            routes=spec.policy.routing.replay,
            stop_strings=spec.rollout.stop,
            devices=devices(engine),
            version=self.bundle.resume.step if self.bundle.resume else 0,
        )

    def _load_data(self, tokenizer: PolicyTokenizer) -> tuple[dict[str, PromptRows], list[EvaluationSet]]:
        spec = self.bundle.spec
        loaded: dict[tuple[str, PromptFormat], PromptRows] = {}
        sources = {
            source.name: self._dataset(source.dataset, source.format, tokenizer, loaded) for source in spec.data.sources
        }
        evaluations = []
        for held_out in spec.evaluation.sources:
            form = evaluation_format(spec, held_out.name)
            data, size = self._dataset(held_out.dataset, form, tokenizer, loaded), spec.evaluation.max_prompts
            rows, prompts = data.rows[:size], data.prompts[:size]
            evaluations.append(EvaluationSet(held_out.name, held_out.dataset, rows, prompts, data.format))
        for (name, _), data in loaded.items():
            check_lengths(spec, name, data.prompts)
        for source in spec.data.sources:
            data = sources[source.name]
            longest = tokenizer.encode_rows(*longest_prompts(spec, data.rows, data.format))
            check_lengths(spec, source.name, longest)
            notes = self.bundle.datasets[source.dataset].difficulty
            prior = {} if notes is None else self._platform.difficulty(source.dataset, notes, len(data.rows))
            sources[source.name] = replace(data, longest=max([data.longest, *map(len, longest)]), prior=prior)
        from worker.loop import run  # noqa: F401 - imports torch: costs no time while the actors start

        return sources, evaluations

    def _rows(self, name: str, form: PromptFormat, tokenizer: PolicyTokenizer) -> list[dict[str, Any]]:
        """Rows of a dataset. Users are told of control text and of tools that the policy is not shown."""
        rows = self._platform.rows(name, self.bundle.datasets[name])
        self._tell_control_text(name, form, tokenizer.control_rows(rows, form.chat))
        self._tell_tools(name, tokenizer.hidden_tools(rows, form))
        return rows

    def _dataset(
        self,
        name: str,
        form: PromptFormat,
        tokenizer: PolicyTokenizer,
        loaded: dict[tuple[str, PromptFormat], PromptRows],
    ) -> PromptRows:
        if (name, form) not in loaded:
            rows = self._rows(name, form, tokenizer)
            self._tell_template(name, form, tokenizer, rows)
            prompts = tokenizer.encode_rows(rows, form)
            loaded[name, form] = PromptRows(rows, form, prompts, max(map(len, prompts), default=0))
        return loaded[name, form]

    def _tell_template(
        self, name: str, form: PromptFormat, tokenizer: PolicyTokenizer, rows: list[dict[str, Any]]
    ) -> None:
        """Notify once if prompts end with the user's turn."""
        if rows and not self._told_template and not tokenizer.adds_generation_prompt(rows[0], form):
            self._told_template = True
            found = no_generation_prompt(f"The chat template of {self.bundle.policy.name}, with {name},")
            self._notify(found.title, f"{found.message} {found.advice}")

    def _tell_tags(self, tokenizer: PolicyTokenizer) -> None:
        """Notify if the run looks for thinking between tags other than the policy's own."""
        asked, found = self.bundle.spec.thinking, tokenizer.thinking
        if not isinstance(asked, TaggedThinking) or found is None:
            return
        if (asked.start, asked.end) != (found.start, found.end):
            self._notify(
                "Thinking tags differ",
                f"The run looks for thinking between {asked.start!r} and {asked.end!r}; the policy's files name"
                f" {found.start!r} and {found.end!r}. Budgets apply only between the run's tags (thinking.start,"
                " thinking.end).",
            )

    def _tell_tools(self, name: str, hidden: list[int]) -> None:
        if hidden:
            many = "1 row has" if len(hidden) == 1 else f"{len(hidden)} rows have"
            self._notify(
                "Tools that the policy is not shown",
                f"In {name}, {many} `tools` that reach no prompt, row {hidden[0]} the first: the row is no chat, or "
                "the policy's chat template has no place for tools. Such rows train without their tools.",
            )

    def _tell_control_text(self, name: str, form: PromptFormat, found: dict[int, list[str]]) -> None:
        if not found:
            return
        place, tokens = next(iter(found.items()))
        many = "1 row has" if len(found) == 1 else f"{len(found)} rows have"
        encoded = (
            "They were encoded as text." if form.control_tokens == "text" else ("They were encoded as control tokens.")
        )
        self._notify(
            "Control tokens in a dataset's text",
            f"In {name}, {many} text that looks like control tokens, row {place} the first: {', '.join(tokens)}."
            f" {encoded} Change this with the source's format (control_tokens).",
        )


def _sentence(error: Exception) -> str:
    if isinstance(error, RayTaskError):
        return f"A worker could not start: {error.cause}"
    if isinstance(error, RayActorError):
        return f"A worker died while starting: {error}"
    return str(error)
