"""Selects the files of a policy. Pickles, code and anything in subfolders are never selected."""

import json
import re
from collections.abc import Collection

from dressage.imports.remote import ImportRefused, Listing
from dressage.policies.kinds import unfit_files

INDEX = "model.safetensors.index.json"
_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt", ".msgpack", ".h5")
_SMALL = re.compile(
    r"config\.json|generation_config\.json|tokenizer\.json|tokenizer\.model|tokenizer_config\.json|vocab\.json|"
    r"special_tokens_map\.json|added_tokens\.json|merges\.txt|chat_template\.(jinja|json)|"
    r"model\.safetensors\.index\.json|(?i:LICEN[CS]E|NOTICE|README)(\.(md|txt))?"
)
_WEIGHTS = re.compile(r"(?!adapter_)[\w.\-]{1,200}\.safetensors")
MAX_SMALL_BYTES = 256 << 20
"""Maximum size of a file other than the weights. Tokenizers have up to 40 MB."""


def small_files(listing: Listing) -> list[str]:
    """Names of configuration, tokenizer, template and licence files, which are fetched before the weights.

    Raises:
        ImportRefused: there is no configuration or nothing to train, or a file is too large for its kind.
    """
    names = listing.files.keys()
    if "config.json" not in names:
        raise ImportRefused(_without_config(names))
    if not any(_WEIGHTS.fullmatch(name) for name in names):
        raise ImportRefused(_without_weights(names))
    wanted = sorted(name for name in names if _SMALL.fullmatch(name))
    for name in wanted:
        if listing.files[name].size > MAX_SMALL_BYTES:
            raise ImportRefused(
                f"{name} has more than {MAX_SMALL_BYTES >> 20} MiB, which is too large for such a file."
            )
    return wanted


def weights(listing: Listing, index: bytes | None) -> list[str]:
    """Names of the weight files: those in the index if there is one, otherwise all safetensors files.

    Args:
        listing: the available files.
        index: content of ``model.safetensors.index.json``.

    Raises:
        ImportRefused: the index cannot be read, or names files that are invalid or missing.
    """
    found = sorted(name for name in listing.files if _WEIGHTS.fullmatch(name))
    if index is None:
        # Some repositories contain the same weights a second time, in another library's format.
        own = [name for name in found if not name.startswith("consolidated")]
        return ["model.safetensors"] if "model.safetensors" in found else own or found
    try:
        named = sorted({str(name) for name in json.loads(index)["weight_map"].values()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ImportRefused(f"{INDEX} is damaged: tell the policy's publisher, or choose another revision.") from error
    missing = [name for name in named if name not in found]
    if missing or not named:
        what = f"names {missing[0][:200]!r}, which is missing" if missing else "lists no file"
        raise ImportRefused(f"{INDEX} {what}: the upload was not finished. Choose a complete revision.")
    return named


def _without_config(names: Collection[str]) -> str:
    return unfit_files(names) or (
        "It has no config.json, so it is not a transformers policy. Check the name and the revision."
    )


def _without_weights(names: Collection[str]) -> str:
    pickles = sorted(name for name in names if name.endswith(_PICKLES))
    if pickles and "adapter_config.json" not in names:
        return (
            f"Its weights are pickles ({pickles[0]}), which can run code when loaded, and are never downloaded. Choose"
            " a revision with safetensors (the hub's bot proposes one, often as refs/pr/1), or convert them with"
            " save_pretrained of transformers and register the folder."
        )
    return unfit_files(names) or "It has no safetensors weights. Check the name and the revision."
