"""Start of a run that learns from rows: the learner and the encoded rows. There are no engines and no rewards."""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from trainer_core.episodes import Group
from trainer_core.prompting.format import evaluation_format
from trainer_core.spec.data.prompt_format import PromptFormat
from worker.cluster import actors as cluster
from worker.cluster.closed import check_closed
from worker.cluster.cores import usable_cores
from worker.engine.tokenizer import PolicyTokenizer
from worker.errors import StartError
from worker.learner.stage import LearningStage, number_types
from worker.loop.examples.encoder import ExampleEncoder
from worker.loop.examples.run import ExampleParts
from worker.loop.examples.source import ExampleRows
from worker.loop.startup import LEARNER_CPUS, Startup, Tick
from worker.rollout.timeline import Timeline


class ExampleStartup(Startup):
    """One attempt's start. ``close`` undoes everything that has been started."""

    def start(self, tick: Tick) -> ExampleParts:
        """Start the learner, encode the rows in the meantime, and wait for both.

        Raises:
            StartError: something cannot work; the message is for the user who started the run.
        """
        bundle, spec = self.bundle, self.bundle.spec
        started = time.perf_counter()
        check_closed()
        ranks = spec.parallelism.learner_ranks
        self._placement = self._place(0, 0, ranks, 1)
        room = self._reservation(0, 0, 0)
        teacher, reference = self._check_folders()
        tokenizer = PolicyTokenizer(bundle.policy.path)
        seconds = {"checks": time.perf_counter() - started}
        self._closers.callback(room.close)
        self._room = room
        room.obtain(lambda: tick(0, 1))
        seconds["room"] = time.perf_counter() - started - seconds["checks"]
        learning = LearningStage()
        self._closers.callback(learning.close)
        learner = learning.start(
            bundle.policy.path,
            spec,
            cluster.actor_options(None, LEARNER_CPUS, self._placement.gpus),
            bundle.resume.path if bundle.resume else None,
            teacher,
            self._placement.device,
            self._cores,
            places=room.learner,
            reference=reference,
            threads=max(1, usable_cores() // ranks),  # no engine needs the others
        )
        with ThreadPoolExecutor(1) as loader:
            data = loader.submit(self._load_examples, tokenizer)
            seconds |= self._await({}, {"learner": learner, "data": data}, tick)
        seconds["all"] = time.perf_counter() - started
        sources, held_out = data.result()
        number_type = number_types(spec)[1]
        peaks, devices = learning.peaks((number_type,)).result(), max(1, math.ceil(ranks * self._placement.gpus))
        return ExampleParts(
            learning,
            sources,
            held_out,
            learner.result()[0],
            Timeline(),
            seconds,
            self._active,
            devices * peaks[number_type],
        )

    def _load_examples(self, tokenizer: PolicyTokenizer) -> tuple[dict[str, ExampleRows], list[Group]]:
        spec = self.bundle.spec
        known: dict[tuple[str, PromptFormat], ExampleRows] = {}
        sources = {one.name: self._examples(one.dataset, one.format, tokenizer, known) for one in spec.data.sources}
        for name, data in sources.items():
            if not data.usable:
                raise StartError(f"The source {name!r} ({data.dataset}) has no row that the policy could learn from.")
        held_out = []
        for source in spec.evaluation.sources:
            data = self._examples(source.dataset, evaluation_format(spec, source.name), tokenizer, known)
            held_out += _held_out(source.name, data, spec.evaluation.max_prompts)
        return sources, held_out

    def _examples(
        self,
        name: str,
        form: PromptFormat,
        tokenizer: PolicyTokenizer,
        known: dict[tuple[str, PromptFormat], ExampleRows],
    ) -> ExampleRows:
        if (name, form) not in known:
            objective = self.bundle.spec.examples
            assert objective is not None
            rows = self._rows(name, form, tokenizer)
            try:
                encoded = ExampleEncoder(tokenizer, objective).encode(rows, form)
            except StartError as error:
                raise StartError(f"{name}: {error}") from error
            for sentence in encoded.account.sentences():
                self._notify("Rows that are not learned as they are", f"In {name}: {sentence}")
            known[name, form] = ExampleRows(name, rows, encoded.examples)
        return known[name, form]


def _held_out(name: str, data: ExampleRows, rows: int) -> list[Group]:
    """The first rows of a held-out source that teach, as groups."""
    chosen: list[tuple[int, Any]] = [(row, one) for row, one in enumerate(data.examples) if one][:rows]
    return [
        Group(
            group_id=f"eval-{name}-{row}",
            prompt_id=f"{name}:{row}",
            source=name,
            dataset=data.dataset,
            item=data.rows[row],
            prompt_text="",
            steering_revision=0,
            trajectories=list(examples),
        )
        for row, examples in chosen
    ]
