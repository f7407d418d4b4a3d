"""Configs and splits of a repository or folder, with the data files of each in order.

The configs on the repository's card take precedence. Without them, file and folder names decide, by the conventions of
the hub. Source: Hugging Face Hub documentation, "Data files Configuration" and "File names and splits".
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from dressage.imports.remote import ImportRefused, Listing, RemoteFile

DEFAULT = "default"
"""Name of the config if there is none."""
MAX_FILES = 1_000
"""Maximum number of files in one choice."""
MAX_CHOICES = 1_000
"""Maximum number of choices offered for a place."""
MAX_STEPS = 50
"""Maximum number of folders in a pattern."""
_DATA = re.compile(
    r".+\.(parquet|jsonl|ndjson|json|csv|tsv)(\.(gz|zst))?|.+\.(zip|tar|tgz|tar\.gz|tar\.zst)", re.IGNORECASE
)
_BESIDE = ("dataset_infos.json", "dataset_info.json", "dataset_dict.json", "state.json", "package.json")
"""Files that describe data but contain none."""
_ENDS = re.compile(r"(\.[A-Za-z]{1,8}){1,2}$")
_SHARD = re.compile(r"[-_.]?\d{1,6}-of-\d{1,6}([-_.][0-9a-f]{6,})?$|^(part|shard)?[-_.]?\d{1,6}$")
_SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval", "evaluation"),
}


@dataclass(frozen=True, slots=True)
class DataChoice:
    """Files that are concatenated into one version."""

    config: str
    split: str
    files: list[RemoteFile]

    @property
    def bytes(self) -> int:
        return sum(file.size for file in self.files)


def choices(listing: Listing) -> list[DataChoice]:
    """List what can be chosen: the default config first, and within each config the training split."""
    data = {name: file for name, file in listing.files.items() if _is_data(name)}
    if len(listing.files) == 1 and not data:  # a single file: its content decides what it is
        data = dict(listing.files)
    by_card = (choice for choice in _by_card(listing.card, data) if choice.files)
    found = list(islice(by_card, MAX_CHOICES)) or list(islice(_by_names(data.values()), MAX_CHOICES))
    return found


def chosen(listing: Listing, *, config: str, split: str, paths: Iterable[str]) -> DataChoice:
    """The requested files: those in ``paths`` in that order, otherwise those of the config and split.

    Raises:
        ImportRefused: there is no such file, config or split, or the request is ambiguous.
    """
    found = _chosen(listing, config, split, list(paths))
    if len(found.files) > MAX_FILES:
        raise ImportRefused(f"It has more than {MAX_FILES:,} files. Choose fewer of them.")
    if empty := [file.name for file in found.files if file.size == 0]:
        raise ImportRefused(f"{empty[0]} is empty. Choose the files without it.")
    return found


def _chosen(listing: Listing, config: str, split: str, paths: list[str]) -> DataChoice:
    if missing := [path for path in paths if path not in listing.files]:
        raise ImportRefused(f"There is no file {missing[0][:300]!r}. List the files again, or name another revision.")
    if paths:
        return DataChoice(config, split, [listing.files[path] for path in paths])
    every = choices(listing)
    if not every:
        raise ImportRefused(
            "There are no data files: no Parquet, JSON lines, JSON, CSV or TSV, packed or not. Check the name and the "
            "revision; datasets that are made by a script have their data as Parquet at the revision "
            "refs/convert/parquet."
        )
    found = [one for one in every if config in ("", one.config) and split in ("", one.split)]
    if config == "" and len(found) > 1:
        found = [one for one in found if one.config == every[0].config]
    if len(found) == 1 or (found and split == "" and found[0].split == "train"):
        return found[0]
    offered = ", ".join(f"{one.config} / {one.split}" for one in every[:20])
    what = "has several splits" if found else f"has no config {config!r} with a split {split!r}"
    raise ImportRefused(f"It {what}. Name a config and a split: {offered}.")


def _is_data(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith((".", "__")) for part in path.parts)
    return not hidden and path.name not in _BESIDE and _DATA.fullmatch(path.name) is not None


def _by_card(card: Mapping[str, Any], data: Mapping[str, RemoteFile]) -> Iterator[DataChoice]:
    configs = card.get("configs")
    if not isinstance(configs, list):
        return
    named = [one for one in configs if isinstance(one, dict)]
    for config in sorted(named, key=lambda one: one.get("default") is not True):
        name = str(config.get("config_name") or DEFAULT)
        folder = str(config.get("data_dir") or "").strip("/")
        within = {path: file for path, file in data.items() if not folder or path.startswith(f"{folder}/")}
        splits = list(_patterns(config.get("data_files")))
        if not splits:
            for choice in _by_names(within.values()):
                yield DataChoice(name, choice.split, choice.files)
        for split, patterns in splits:
            yield DataChoice(name, split, list(_matching(patterns, folder, within)))


def _patterns(told: Any) -> Iterator[tuple[str, list[str]]]:
    """(split, file patterns) of ``data_files``: one pattern, a list, patterns by split, or ``{split, path}``."""
    if isinstance(told, str):
        yield "train", [told]
    elif isinstance(told, dict):
        for split, patterns in told.items():
            yield str(split), _texts(patterns)
    elif isinstance(told, list) and all(isinstance(one, str) for one in told):
        if told:
            yield "train", told
    elif isinstance(told, list):
        for one in told:
            if isinstance(one, dict):
                yield str(one.get("split") or "train"), _texts(one.get("path"))


def _texts(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)] if value else []


def _matching(patterns: Iterable[str], folder: str, data: Mapping[str, RemoteFile]) -> Iterator[RemoteFile]:
    seen: set[str] = set()
    names = sorted(data)
    for pattern in patterns:
        whole = (f"{folder}/{pattern}" if folder else pattern).removeprefix("./")
        beginning = re.split(r"[*?\[]", whole, maxsplit=1)[0]
        for name in names[bisect_left(names, beginning) :]:
            if not name.startswith(beginning):
                break
            if name not in seen and matches(name, whole):
                seen.add(name)
                yield data[name]


def matches(name: str, pattern: str) -> bool:
    """Whether a path matches a pattern. ``**`` matches any number of folders; ``*`` does not cross folders."""
    parts, wanted = name.split("/"), pattern.split("/")

    @cache
    def rest(part: int, want: int) -> bool:
        if want == len(wanted):
            return part == len(parts)
        if wanted[want] == "**":
            # At the end it matches everything below.
            return (part < len(parts) if want == len(wanted) - 1 else rest(part, want + 1)) or (
                part < len(parts) and rest(part + 1, want)
            )
        return part < len(parts) and fnmatchcase(parts[part], wanted[want]) and rest(part + 1, want + 1)

    return len(wanted) <= MAX_STEPS and rest(0, 0)


def _by_names(files: Iterable[RemoteFile]) -> Iterator[DataChoice]:
    groups: dict[tuple[str, str], list[RemoteFile]] = {}
    for file in sorted(files, key=lambda one: one.name):
        groups.setdefault(_named(file.name), []).append(file)
    order = [*_SPLITS]
    for config, split in sorted(
        groups, key=lambda key: (key[0], order.index(key[1]) if key[1] in order else 9, key[1])
    ):
        yield DataChoice(config, split, groups[config, split])


def _named(name: str) -> tuple[str, str]:
    """(config, split) according to the name of a file."""
    path = PurePosixPath(name)
    stem = _ENDS.sub("", path.name)
    bare = _SHARD.sub("", stem)
    folders = [part for part in path.parts[:-1] if part != "data"]
    split = _keyword(bare)
    if split is None and folders and (split := _keyword(folders[-1])) is not None:
        folders.pop()
    return "/".join(folders) or DEFAULT, split or bare or "all"


def _keyword(text: str) -> str | None:
    words = re.split(r"[^a-z]+", text.lower())
    return next((split for split, names in _SPLITS.items() if any(name in words for name in names)), None)
