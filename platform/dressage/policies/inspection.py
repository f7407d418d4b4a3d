"""Inspects a Hugging Face folder without torch and without running any of its code."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from dressage.policies.kinds import unfit_files

_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")
_CONFIGS = ("config.json", "tokenizer_config.json", "processor_config.json", "generation_config.json")
_INDEX = "model.safetensors.index.json"
_CODE = (
    "Use a checkpoint without it; if transformers supports the architecture, load it without trust_remote_code, save it"
    " with save_pretrained, and register that folder."
)
_MAX_JSON_BYTES = 64 << 20


class UnfitFolder(ValueError):
    """The folder cannot be a policy. The message states the reason."""


@dataclass(frozen=True, slots=True)
class PolicyFacts:
    """Facts about a policy's folder."""

    path: Path
    architecture: str
    parameters: int
    numbers: dict[str, int]
    """Number of values per format, by safetensors names such as ``BF16``."""
    vocab_size: int
    max_position_embeddings: int
    bytes: int
    sha256: str
    """Hash over the names and hashes of the configuration, tokenizer and weight files."""


def inspect(folder: Path, digests: Mapping[str, str] | None = None) -> PolicyFacts:
    """The facts of a folder whose location has been approved; see ``folders.require_open``.

    Args:
        folder: the folder.
        digests: SHA-256 by name, for files that were already read.

    Raises:
        UnfitFolder: the folder is incomplete or damaged, has its weights only as pickles, or needs its own code.
    """
    if not folder.is_dir():
        raise UnfitFolder("There is no such folder.")
    config = inspect_config(folder)
    weights = _weights(folder)
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise UnfitFolder(f"The folder has no tokenizer ({', '.join(_TOKENIZERS)}).")
    architectures = config.get("architectures")
    if not isinstance(architectures, list) or not architectures or not isinstance(architectures[0], str):
        raise UnfitFolder("config.json names no architecture.")
    numbers = numbers_in(folder)
    return PolicyFacts(
        path=folder,
        architecture=architectures[0],
        parameters=sum(numbers.values()),
        numbers=numbers,
        vocab_size=_whole(config, "vocab_size"),
        max_position_embeddings=_whole(config, "max_position_embeddings"),
        bytes=sum(file.stat().st_size for file in weights),
        sha256=_fingerprint(folder, weights, digests or {}),
    )


def numbers_in(folder: Path) -> dict[str, int]:
    """Number of weight values per format. Raises UnfitFolder if a file is missing or damaged."""
    if not folder.is_dir():
        raise UnfitFolder("There is no such folder.")
    return dict(sum((_count_numbers(file) for file in _weights(folder)), Counter[str]()))


def inspect_config(folder: Path) -> dict[str, Any]:
    """``config.json`` of a folder whose small files are present. Raises UnfitFolder as ``inspect`` does."""
    _refuse_code(folder)
    if not (folder / "config.json").is_file() and (reason := unfit_files([file.name for file in folder.iterdir()])):
        raise UnfitFolder(reason)
    return read_json(folder / "config.json")


def _refuse_code(folder: Path) -> None:
    for name in _CONFIGS:
        if (folder / name).is_file() and "auto_map" in read_json(folder / name):
            raise UnfitFolder(
                f"{name} wants to run code from the folder (auto_map); such policies are refused. {_CODE}"
            )


def _weights(folder: Path) -> list[Path]:
    """The safetensors files. If there is an index, only those that it names."""
    found = sorted(folder.glob("*.safetensors"))
    if not found:
        pickles = sorted(file.name for file in folder.iterdir() if file.suffix in _PICKLES)
        if pickles:
            raise UnfitFolder(
                f"The weights are pickles ({pickles[0]}), which can run code when loaded. Convert them to safetensors: "
                "load them with transformers and save them with save_pretrained."
            )
        raise UnfitFolder("The folder has no safetensors weights.")
    if not (folder / _INDEX).is_file():
        return found
    shards = read_json(folder / _INDEX).get("weight_map")
    if not isinstance(shards, dict) or not shards:
        raise UnfitFolder(f"{_INDEX} has no weight_map.")
    named = {str(name) for name in shards.values()}
    missing = sorted(named - {file.name for file in found})
    if missing:
        raise UnfitFolder(f"{_INDEX} names {missing[0]}, which is not in the folder.")
    return [file for file in found if file.name in named]


def _count_numbers(file: Path) -> Counter[str]:
    """Number of values per format in a safetensors file. The library checks that the header fits the file."""
    found: Counter[str] = Counter()
    try:
        with safe_open(file, framework="numpy") as tensors:
            for name in tensors.keys():  # noqa: SIM118
                piece = tensors.get_slice(name)
                found[str(piece.get_dtype())] += prod(piece.get_shape())
        return found
    except SafetensorError as error:
        raise UnfitFolder(f"{file.name} is damaged: {error}") from error
    except OSError as error:  # its own message would reveal the path
        raise UnfitFolder(f"{file.name} cannot be read ({error.strerror or type(error).__name__}).") from error


def read_json(file: Path) -> dict[str, Any]:
    """A file that contains a JSON object. Raises UnfitFolder for anything else."""
    if not file.is_file():
        raise UnfitFolder(f"The folder has no {file.name}.")
    if file.stat().st_size > _MAX_JSON_BYTES:
        raise UnfitFolder(f"{file.name} is too large.")
    try:
        data = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UnfitFolder(f"{file.name} is not valid JSON.") from error
    if not isinstance(data, dict):
        raise UnfitFolder(f"{file.name} is not a JSON object.")
    return data


def _whole(config: dict[str, Any], name: str) -> int:
    value = config.get(name)
    if type(value) is not int or not 0 < value < 2**31:
        raise UnfitFolder(f"config.json has no usable {name}.")
    return value


def _fingerprint(folder: Path, weights: list[Path], digests: Mapping[str, str]) -> str:
    digest = hashlib.sha256()
    names = {*_CONFIGS, *_TOKENIZERS, "merges.txt", "special_tokens_map.json", "chat_template.jinja"}
    others = [folder / name for name in names if (folder / name).is_file()]
    for path in sorted([*others, *weights]):
        digest.update(f"{path.name}\0{digests.get(path.name) or _sha256(path)}\n".encode())
    return digest.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
