"""Text embeddings from a policy: the mean of its last hidden states, in one Ray actor per model."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

from trainer_core.link.serving import ServedQuestion, packed
from trainer_core.rewards.graders.model.judge import JudgeError
from worker.errors import StartError
from worker.judge.served import ServeConfig, ServedReply

MOST_AT_ONCE = 8
"""Number of texts per forward pass."""


class EmbeddingServer:
    """Ray actor. Runs one forward pass at a time; code from the folder is never run."""

    def __init__(self) -> None:
        self._turn = threading.Lock()

    def start(self, config: ServeConfig) -> float:
        """Load tokenizer and model. Returns the seconds it took; raises StartError with a reason."""
        import torch
        from transformers import AutoModel

        from trainer_core.update.device import claim
        from worker.engine.tokenizer import PolicyTokenizer

        started = time.perf_counter()
        torch.set_num_threads(1)
        if not any(config.model_dir.glob("*.safetensors")):
            raise StartError("The policy has no safetensors weights in its folder.")
        self._tokenizer = PolicyTokenizer(config.model_dir)
        try:
            options: dict[str, Any] = {"local_files_only": True}
            self._model = AutoModel.from_pretrained(  # nosec B615
                str(config.model_dir), trust_remote_code=False, use_safetensors=True, **options
            ).eval()
        except (OSError, ValueError, KeyError) as error:
            raise StartError(f"The policy cannot be loaded to compute vectors of texts: {error}") from error
        self._device = claim("cuda" if torch.cuda.is_available() else "cpu", 0)  # the GPU that Ray shows, if any
        self._model.to(self._device)
        self._limit = _limit(config.model_dir)
        return time.perf_counter() - started

    def reply(self, question: ServedQuestion) -> ServedReply:
        """Packed vectors of the question's texts. Raises JudgeError if one is too long or has no tokens."""
        rows = [
            ids.tolist() for ids in self._tokenizer.encode_rows([{"prompt": text} for text in question.texts or ()])
        ]
        longest = max(map(len, rows), default=0)
        if longest > self._limit or not all(rows):
            raise JudgeError(f"the model reads 1 to {self._limit} tokens, a text has {longest if all(rows) else 0}")
        with self._turn:
            text = self._vectors(rows)
        return ServedReply(text, sum(map(len, rows)), 0, "stop")

    def _vectors(self, rows: list[list[int]]) -> str:
        """Unit vectors. Rows are padded on the right: a causal model ignores the padding, and the mask hides it from
        the mean."""
        import torch

        from trainer_core.update.device import move

        made = []
        for start in range(0, len(rows), MOST_AT_ONCE):
            part = rows[start : start + MOST_AT_ONCE]
            ids = torch.zeros((len(part), max(map(len, part))), dtype=torch.long)
            mask = torch.zeros_like(ids)
            for place, row in enumerate(part):
                ids[place, : len(row)] = torch.tensor(row)
                mask[place, : len(row)] = 1
            with torch.inference_mode():
                ids, mask = move(ids, self._device), move(mask, self._device)
                hidden = self._model(ids, attention_mask=mask).last_hidden_state.float()  # [B, T, D]
                mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
                made.append(torch.nn.functional.normalize(mean, dim=1).cpu())
        return packed(torch.cat(made).half().numpy())


def _limit(folder: Path) -> int:
    config: dict[str, Any] = json.loads((folder / "config.json").read_text())
    return int(config.get("max_position_embeddings", 1 << 30))
