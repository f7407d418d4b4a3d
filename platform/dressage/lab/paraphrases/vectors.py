"""Embeddings of all rows, stored on disk slice by slice, so that work continues after a killed worker."""

import json
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dressage.lab.arguments import FindParaphrases
from dressage.lab.asking.ask_rows import IN_A_ROW, MOST_SIGNS, client_of
from dressage.lab.asking.client import MOST_AT_ONCE, AskedModel, AskedTokens
from dressage.lab.asking.outcomes import AskedOutcome
from dressage.lab.plan import LabWork, UnfitError
from dressage.lab.texts import read_texts
from trainer_core.link.serving import EMBEDDING
from trainer_core.rewards.graders.model.judge import JudgeError

SLICE = 1024
"""Rows per file."""
BATCH = 32
"""Rows per request."""
FIRST = 20
"""Number of first rows of which at least one must get an embedding; otherwise the job stops and fails."""


@dataclass(slots=True)
class VectorSlice:
    """Consecutive rows."""

    vectors: NDArray[np.float16]
    """Embeddings of shape [rows, size]; 0 if there is none."""
    errors: dict[int, str]
    """Why there is no embedding, by index in the slice."""
    use: AskedTokens


@dataclass(frozen=True, slots=True)
class RowVectors:
    """Embeddings of all rows."""

    vectors: NDArray[np.float16]
    """Embeddings of shape [rows, size], of length 1; 0 for rows without text or that the model refused."""
    outcomes: list[AskedOutcome]


class _Failures:
    """Consecutive failures over all threads. After ``IN_A_ROW`` of them the remaining rows are skipped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._answered = False
        self.stopped = ""
        """Why no more requests are sent."""

    def count(self, error: str) -> None:
        """Record a refused row. Raises UnfitError if none of the first rows got an embedding."""
        with self._lock:
            self._in_a_row += 1
            if self._in_a_row >= FIRST and not self._answered:
                raise UnfitError(_nothing(error))
            if self._in_a_row >= IN_A_ROW and not self.stopped:
                last = f"{IN_A_ROW} rows in a row had failed, the last because {error}"
                self.stopped = f"Not queried: {last}"

    def forget(self) -> None:
        """Record that rows got embeddings."""
        with self._lock:
            self._in_a_row, self._answered = 0, True


def row_vectors(work: LabWork, operation: FindParaphrases) -> RowVectors:
    """Embeddings of the version's rows.

    Raises:
        UnfitError: none of the first rows got an embedding, or their sizes differ.
    """
    assert work.endpoint is not None
    client = client_of(work.endpoint, EMBEDDING, work)
    total, parts, errors, uses = work.version.rows, [], dict[int, str](), list[AskedTokens]()
    done, failures = 0, _Failures()
    pool = ThreadPoolExecutor(min(MOST_AT_ONCE, work.endpoint.max_in_flight))
    try:
        for start, texts in _slices(work.version.path, operation.columns):
            work.told("Computing vectors", done, total)
            path = work.folder / f"vectors-{start:08}.npz"
            found = _load(path) if path.exists() else None
            if found is None:
                found = _keep(path, _ask(client, texts, pool, failures))
            elif found.vectors.any():
                failures.forget()
            parts.append(found.vectors)
            errors |= {start + place: error for place, error in found.errors.items()}
            uses.append(found.use)
            done += len(texts)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # a failing job waits for no answer
        client.close()
    work.told("Computing vectors", done, total)
    if errors and not any(part.any() for part in parts):
        raise UnfitError(_nothing(next(iter(errors.values()))))
    sizes = {part.shape[1] for part in parts if part.shape[1]}
    if len(sizes) > 1:
        raise UnfitError("The model's vectors are of different sizes: another model may have answered in the meantime.")
    size = next(iter(sizes), 1)
    whole = [part if part.shape[1] else np.zeros((len(part), size), np.float16) for part in parts]
    first = [AskedTokens.sum_of(uses), *[AskedTokens()] * max(total - 1, 0)]
    outcomes = [AskedOutcome(row, {}, errors.get(row), first[row]) for row in range(total)]
    return RowVectors(np.concatenate(whole), outcomes)


def _slices(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """(number of the first row, texts), at most ``SLICE`` rows at a time."""
    for texts in read_texts(path, columns):
        for place in range(0, len(texts), SLICE):
            yield texts.start + place, texts.texts[place : place + SLICE]


def _ask(client: AskedModel, texts: list[str], pool: ThreadPoolExecutor, failures: _Failures) -> VectorSlice:
    """Request the embeddings of a slice."""
    use = AskedTokens()
    found: dict[int, list[float]] = {}
    errors = {
        place: f"Not queried: the row has {len(text):,} characters, and the maximum is {MOST_SIGNS:,}"
        for place, text in enumerate(texts)
        if len(text) > MOST_SIGNS
    }
    asked = [place for place, text in enumerate(texts) if text.strip() and place not in errors]
    batches = [asked[start : start + BATCH] for start in range(0, len(asked), BATCH)]

    def embed(places: list[int]) -> list[tuple[int, list[float] | None, str, int]]:
        if failures.stopped:
            return [(place, None, failures.stopped, 0) for place in places]
        try:
            made = client.embed([texts[place] for place in places])
        except JudgeError as error:
            if len(places) == 1:
                failures.count(str(error)[:1000])
                return [(places[0], None, str(error)[:1000], 0)]
            half = len(places) // 2
            return embed(places[:half]) + embed(places[half:])
        failures.forget()
        tokens = [made.prompt_tokens, *[0] * (len(places) - 1)]
        return [(place, vector, "", count) for place, vector, count in zip(places, made.vectors, tokens, strict=True)]

    for batch in pool.map(embed, batches):
        use.questions += 1
        for place, vector, error, tokens in batch:
            use.prompt_tokens += tokens
            if vector is None:
                errors[place] = error
            else:
                found[place] = vector
    size = len(next(iter(found.values()), []))
    vectors = np.zeros((len(texts), size), np.float16)
    for place, vector in found.items():
        if len(vector) != size:
            raise UnfitError("The model's vectors are of different sizes.")
        vectors[place] = _unit(np.array(vector))
    return VectorSlice(vectors, errors, use)


def _nothing(error: str) -> str:
    return f"The model returned no vector for the first rows: {error}"


def _unit(vector: NDArray[Any]) -> NDArray[np.float16]:
    return (vector / max(float(np.linalg.norm(vector)), 1e-12)).astype(np.float16)


def _keep(path: Path, found: VectorSlice) -> VectorSlice:
    temporary = path.with_suffix(".tmp")
    told = {"errors": found.errors, "questions": found.use.questions, "tokens": found.use.prompt_tokens}
    with temporary.open("wb") as file:
        np.savez(file, vectors=found.vectors, told=np.frombuffer(json.dumps(told).encode(), np.uint8))
    os.replace(temporary, path)
    return found


def _load(path: Path) -> VectorSlice:
    with np.load(path) as stored:
        told = json.loads(stored["told"].tobytes())
        errors = {int(place): error for place, error in told["errors"].items()}
        return VectorSlice(stored["vectors"], errors, AskedTokens(told["questions"], told["tokens"]))
