"""Reward models in this process: sequence-classification folders, with many conversations per batch."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from trainer_core.rewards.errors import GraderError
from worker.errors import StartError
from worker.judge.clock import outside

MOST_AT_ONCE = 32
"""Number of conversations per forward pass."""


class LocalRewardModels:
    """Implements ``trainer_core.rewards.graders.reward_model.RewardModels``. Code from the folders is never run."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        """Load all models. ``folders``: by policy. Raises StartError with a reason."""
        self._models: dict[str, _Model] = {}
        try:
            for policy, folder in folders.items():
                self._models[policy] = _Model(policy, folder)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the models after all earlier requests are answered."""
        for model in self._models.values():
            model.close()
        self._models = {}

    def score(self, policy: str, messages: Sequence[Mapping[str, str]]) -> float:
        """Implements ``RewardModels.score``."""
        model = self._models.get(policy)
        if model is None:
            raise GraderError(f"there is no reward model {policy!r}")
        with outside() as clock:
            future = model.submit(messages)
            clock.on_expiry(future.cancel)
            clock.begin()
            try:
                return future.result()
            finally:
                clock.end()


class _Model:
    """One model and the thread that feeds it."""

    def __init__(self, policy: str, folder: Path) -> None:
        import torch
        from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast

        from trainer_core.update.device import claim

        torch.set_num_threads(1)
        if not any(folder.glob("*.safetensors")):
            raise StartError(f"The reward model {policy} has no safetensors weights in {folder}.")
        try:
            architectures = json.loads((folder / "config.json").read_text()).get("architectures") or []
        except (OSError, ValueError, AttributeError) as error:
            raise StartError(f"The reward model {policy} has no readable config.json in {folder}.") from error
        if not any("SequenceClassification" in name for name in architectures):
            raise StartError(
                f"The policy {policy} is not a reward model: its folder contains {', '.join(architectures)}."
            )
        try:
            options: dict[str, Any] = {"local_files_only": True}
            self._tokenizer = PreTrainedTokenizerFast.from_pretrained(str(folder), **options)  # nosec B615
            self._model = AutoModelForSequenceClassification.from_pretrained(  # nosec B615
                str(folder), trust_remote_code=False, use_safetensors=True, **options
            ).eval()
        except (OSError, ValueError, KeyError) as error:
            raise StartError(f"The reward model {policy} cannot be loaded: {error}") from error
        if self._model.config.num_labels != 1:
            raise StartError(
                f"The reward model {policy} has {self._model.config.num_labels} outputs, but a reward is one number."
            )
        self._device = claim("cuda" if torch.cuda.is_available() else "cpu", 0)  # the GPU that Ray shows, if any
        self._model.to(self._device)
        self._limit = int(getattr(self._model.config, "max_position_embeddings", 1 << 30))
        self._queue: SimpleQueue[tuple[list[int], Future[float]] | None] = SimpleQueue()
        threading.Thread(target=self._serve, name=f"reward model {policy}", daemon=True).start()

    def submit(self, messages: Sequence[Mapping[str, str]]) -> Future[float]:
        """Queue a conversation for scoring. Raises GraderError if it is too long for the model."""
        ids = self._encode(messages)
        if len(ids) > self._limit:
            raise GraderError(f"the reward model reads {self._limit} tokens, the conversation has {len(ids)}")
        future: Future[float] = Future()
        self._queue.put((ids, future))
        return future

    def close(self) -> None:
        """End the thread that holds the model."""
        self._queue.put(None)

    def _encode(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """Encode with the folder's chat template, or as plain paragraphs if it has none."""
        if self._tokenizer.chat_template is not None:
            text = self._tokenizer.apply_chat_template([dict(m) for m in messages], tokenize=False)
            return list(self._tokenizer(str(text), add_special_tokens=False)["input_ids"])
        return list(self._tokenizer("\n\n".join(message["content"] for message in messages))["input_ids"])

    def _serve(self) -> None:
        while (asked := self._next()) is not None:
            batch = [(ids, future) for ids, future in asked if future.set_running_or_notify_cancel()]
            if not batch:
                continue
            try:
                scores = self._forward([ids for ids, _ in batch])
            except Exception as error:
                for _, future in batch:
                    future.set_exception(GraderError(f"the reward model failed: {type(error).__name__}: {error}"))
                continue
            for (_, future), score in zip(batch, scores, strict=True):
                future.set_result(score)

    def _next(self) -> list[tuple[list[int], Future[float]]] | None:
        """Waiting conversations, at least one; None at the end."""
        batch: list[tuple[list[int], Future[float]]] = []
        while len(batch) < MOST_AT_ONCE:
            try:
                one = self._queue.get(block=not batch)
            except Empty:
                break
            if one is None:
                if not batch:
                    return None
                self._queue.put(None)
                break
            batch.append(one)
        return batch

    def _forward(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """Logits, shape [B]. Rows are padded on the right; the mask hides the padding."""
        import torch

        from trainer_core.update.device import move

        longest = max(map(len, rows))
        padding = self._model.config.pad_token_id
        if padding is None:
            # Without a padding token the model uses the last position as the end, so rows run one by one.
            with torch.inference_mode():
                return [float(self._model(torch.tensor([list(row)], device=self._device)).logits[0, 0]) for row in rows]
        ids = torch.full((len(rows), longest), padding, dtype=torch.long)
        mask = torch.zeros((len(rows), longest), dtype=torch.long)
        for place, row in enumerate(rows):
            ids[place, : len(row)] = torch.tensor(row)
            mask[place, : len(row)] = 1
        with torch.inference_mode():
            logits = self._model(move(ids, self._device), attention_mask=move(mask, self._device)).logits
        return [float(value) for value in logits[:, 0].float().cpu()]
