"""Reads a Hugging Face folder without torch and without running anything in it."""

import hashlib
import json
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")
_CONFIGS = ("config.json", "tokenizer_config.json", "processor_config.json", "generation_config.json")
_INDEX = "model.safetensors.index.json"
_MAX_JSON_BYTES = 64 << 20


class UnfitFolder(ValueError):
    """The folder cannot be a policy. The message says why."""


@dataclass(frozen=True, slots=True)
class PolicyFacts:
    """Facts about a policy's folder."""

    path: Path
    architecture: str
    parameters: int
    vocab_size: int
    max_position_embeddings: int
    bytes: int
    sha256: str
    """Hash over the names and hashes of the configuration, tokenizer and weight files."""


def inspect(folder: Path) -> PolicyFacts:
    """The facts of a folder whose place is settled: see ``folders.require_open``.

    Raises:
        UnfitFolder: it is incomplete or damaged, holds its weights only as pickles, or wants code of its own to be run.
    """
    if not folder.is_dir():
        raise UnfitFolder("There is no such folder.")
    _refuse_code(folder)
    config = _read_json(folder / "config.json")
    weights = _weights(folder)
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise UnfitFolder(f"The folder has no tokenizer ({', '.join(_TOKENIZERS)}).")
    architectures = config.get("architectures")
    if not isinstance(architectures, list) or not architectures or not isinstance(architectures[0], str):
        raise UnfitFolder("config.json names no architecture.")
    return PolicyFacts(
        path=folder,
        architecture=architectures[0],
        parameters=sum(_count_parameters(file) for file in weights),
        vocab_size=_whole(config, "vocab_size"),
        max_position_embeddings=_whole(config, "max_position_embeddings"),
        bytes=sum(file.stat().st_size for file in weights),
        sha256=_fingerprint(folder, weights),
    )


def _refuse_code(folder: Path) -> None:
    for name in _CONFIGS:
        if (folder / name).is_file() and "auto_map" in _read_json(folder / name):
            raise UnfitFolder(f"{name} asks to run code from the folder (auto_map); such policies are refused.")


def _weights(folder: Path) -> list[Path]:
    """The safetensors files, those that the index names if there is one."""
    found = sorted(folder.glob("*.safetensors"))
    if not found:
        pickles = sorted(file.name for file in folder.iterdir() if file.suffix in _PICKLES)
        if pickles:
            raise UnfitFolder(
                f"The weights are pickles ({pickles[0]}), which can run code when loaded. Convert them to safetensors."
            )
        raise UnfitFolder("The folder has no safetensors weights.")
    if not (folder / _INDEX).is_file():
        return found
    shards = _read_json(folder / _INDEX).get("weight_map")
    if not isinstance(shards, dict) or not shards:
        raise UnfitFolder(f"{_INDEX} has no weight_map.")
    named = {str(name) for name in shards.values()}
    missing = sorted(named - {file.name for file in found})
    if missing:
        raise UnfitFolder(f"{_INDEX} names {missing[0]}, which is not in the folder.")
    return [file for file in found if file.name in named]


def _count_parameters(file: Path) -> int:
    """Numbers in a safetensors file. The library checks that the header fits the file."""
    try:
        with safe_open(file, framework="numpy") as tensors:
            return sum(prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118
    except SafetensorError as error:
        raise UnfitFolder(f"{file.name} is damaged: {error}") from error
    except OSError as error:  # its own words would name the place
        raise UnfitFolder(f"{file.name} cannot be read ({error.strerror or type(error).__name__}).") from error


def _read_json(file: Path) -> dict[str, Any]:
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


def _fingerprint(folder: Path, weights: list[Path]) -> str:
    digest = hashlib.sha256()
    names = {*_CONFIGS, *_TOKENIZERS, "merges.txt", "special_tokens_map.json", "chat_template.jinja"}
    others = [folder / name for name in names if (folder / name).is_file()]
    for path in sorted([*others, *weights]):
        with path.open("rb") as file:
            digest.update(f"{path.name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return digest.hexdigest()
