"""Facts from a policy's files: sizes, number formats, chat template, special tokens and licence.

Read once, at registration, without torch and without running any code. For policies from earlier releases, read when
somebody views them.
"""

import hashlib
import re
from pathlib import Path
from typing import Any

import yaml
from typing_extensions import TypedDict

from dressage.policies.inspection import read_json
from trainer_core.prompting.tags import find_thinking

FORMAT = 1
"""Version of the document. Documents of an earlier version are read again."""
_MAX_TEMPLATE = 200_000
_MAX_TOKENS = 2_000
_TYPES = {
    "BF16": "bfloat16",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "F8_E4M3": "float8",
    "F8_E5M2": "float8",
}


class TemplateDocument(TypedDict):
    """A chat template, which turns messages into the text that the policy reads."""

    text: str
    sha256: str
    """Hash of the text."""
    prompts_answers: bool
    """Whether it supports `add_generation_prompt`. Without it, prompts do not end where an answer begins."""


class SpecialTokensDocument(TypedDict):
    """Tokens with a special meaning."""

    bos: str | None
    eos: list[str]
    """Tokens that mark the end of an answer."""
    pad: str | None
    others: list[str]


class FoundThinkingDocument(TypedDict):
    """Tags that enclose a policy's thinking, for the run's `thinking`."""

    start: str
    end: str


class ContentsDocument(TypedDict):
    """What the files of a policy contain."""

    format: int
    model_type: str
    numbers: dict[str, int]
    """Number of stored values per format, such as `bfloat16`."""
    layers: int | None
    hidden_size: int | None
    attention_heads: int | None
    key_value_heads: int | None
    experts: int | None
    """Experts per layer, of which each token uses some; null for a dense policy."""
    experts_per_token: int | None
    sliding_window: int | None
    """Number of tokens that some layers look back; null if all layers attend to everything."""
    tied_embeddings: bool
    """Whether the output layer shares the weights of the embedding."""
    chat_template: TemplateDocument | None
    thinking: FoundThinkingDocument | None
    """Detected from the chat template and the added tokens; null if there is no sign of any."""
    special_tokens: SpecialTokensDocument
    licence: str | None
    """Name according to its card or licence file."""


def read_contents(folder: Path, numbers: dict[str, int], licence: str = "") -> ContentsDocument:
    """Read the facts from the files of an inspected folder.

    Args:
        folder: the policy.
        numbers: same as ``inspection.PolicyFacts.numbers``.
        licence: licence named by the place of origin; empty to look for it in the files.

    Raises:
        UnfitFolder: a file is damaged.
    """
    config = read_json(folder / "config.json")
    tokenizer = _optional(folder / "tokenizer_config.json")
    template, known = _template(folder, tokenizer), _known_tokens(folder, tokenizer)
    named: dict[str, int] = {}
    for name, count in numbers.items():
        named[_TYPES.get(name, name.lower())] = named.get(_TYPES.get(name, name.lower()), 0) + count
    experts = next((found for key in _EXPERTS if (found := _number(config, key))), None)
    return {
        "format": FORMAT,
        "model_type": str(config.get("model_type") or "")[:80],
        "numbers": named,
        "layers": _number(config, "num_hidden_layers"),
        "hidden_size": _number(config, "hidden_size"),
        "attention_heads": _number(config, "num_attention_heads"),
        "key_value_heads": _number(config, "num_key_value_heads"),
        "experts": experts,
        "experts_per_token": _number(config, "num_experts_per_tok") if experts else None,
        "sliding_window": _number(config, "sliding_window") if config.get("use_sliding_window", True) else None,
        "tied_embeddings": bool(config.get("tie_word_embeddings", True)),
        "chat_template": template,
        "thinking": _thinking(template, known),
        "special_tokens": _special_tokens(folder, tokenizer, known),
        "licence": licence or _licence(folder),
    }


_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts")


def _number(config: dict[str, Any], name: str) -> int | None:
    value = config.get(name)
    return value if type(value) is int and 0 < value < 2**53 else None


def _optional(path: Path) -> dict[str, Any]:
    return read_json(path) if path.is_file() else {}


def _template(folder: Path, tokenizer: dict[str, Any]) -> TemplateDocument | None:
    """The template, found in the same order as in transformers: its own file, then the tokenizer's configuration."""
    own = folder / "chat_template.jinja"
    found: Any = None
    if own.is_file() and own.stat().st_size <= _MAX_TEMPLATE * 4:
        found = own.read_text(errors="replace")
    found = found or _optional(folder / "chat_template.json").get("chat_template") or tokenizer.get("chat_template")
    if isinstance(found, list):  # several, by name
        named = {one.get("name"): one.get("template") for one in found if isinstance(one, dict)}
        found = named.get("default") or next(iter(named.values()), None)
    if not isinstance(found, str) or not found or len(found) > _MAX_TEMPLATE:
        return None
    text = found.replace("\0", "")
    digest = hashlib.sha256(found.encode(errors="replace")).hexdigest()
    return {"text": text, "sha256": digest, "prompts_answers": "add_generation_prompt" in text}


def _thinking(template: TemplateDocument | None, known: dict[str, tuple[str, bool]]) -> FoundThinkingDocument | None:
    found = find_thinking(template["text"] if template else None, {text for text, _ in known.values()})
    return {"start": found.start, "end": found.end} if found else None


def _special_tokens(
    folder: Path, tokenizer: dict[str, Any], known: dict[str, tuple[str, bool]]
) -> SpecialTokensDocument:
    stated = {**_optional(folder / "special_tokens_map.json"), **{k: v for k, v in tokenizer.items() if v is not None}}
    bos, eos, pad = (_text(stated.get(f"{name}_token")) for name in ("bos", "eos", "pad"))
    ends = _optional(folder / "generation_config.json").get("eos_token_id")
    ids = ends if isinstance(ends, list) else [ends]
    finals = [*([eos] if eos else []), *(known[str(one)][0] for one in ids if str(one) in known)]
    extra = stated.get("additional_special_tokens") or stated.get("extra_special_tokens") or []
    listed = extra.values() if isinstance(extra, dict) else extra if isinstance(extra, list) else []
    others = [*(_text(one) for one in listed), *(text for text, special in known.values() if special)]
    used = {bos, pad, *finals}
    return {
        "bos": bos,
        "eos": list(dict.fromkeys(finals)),
        "pad": pad,
        "others": list(dict.fromkeys(one for one in others if one and one not in used))[:_MAX_TOKENS],
    }


def _known_tokens(folder: Path, tokenizer: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    """(text, whether it is special) of tokens added to the vocabulary, by id as text."""
    found: dict[str, tuple[str, bool]] = {}
    added = _optional(folder / "tokenizer.json").get("added_tokens")
    for one in added if isinstance(added, list) else ():
        if isinstance(one, dict) and (text := _text(one)):
            found[str(one.get("id"))] = (text, bool(one.get("special")))
    decoder = tokenizer.get("added_tokens_decoder")
    for number, one in decoder.items() if isinstance(decoder, dict) else ():
        if isinstance(one, dict) and (text := _text(one)):
            found[str(number)] = (text, bool(one.get("special")))
    return found


def _text(token: Any) -> str | None:
    """A token's text. Files contain it plain, or along with how it is matched."""
    text = token.get("content") if isinstance(token, dict) else token
    return text.replace("\0", "")[:200] if isinstance(text, str) and text else None


_FRONT = re.compile(r"\A---\s*\n(.*?)\n---\s*\n", re.DOTALL)


def _licence(folder: Path) -> str | None:
    """The licence named by the card, otherwise the first line of the licence file; None if neither can be read."""
    for card in sorted(folder.glob("README*")):
        stated = _stated(card)
        if isinstance(stated, dict) and isinstance(stated.get("license"), str):
            return str(stated["license"])[:200]
    for file in sorted([*folder.glob("LICENSE*"), *folder.glob("LICENCE*")]):
        lines = (line.strip() for line in _beginning(file).splitlines())
        if first := next((line for line in lines if line), None):
            return first[:200]
    return None


def _stated(card: Path) -> Any:
    """The YAML header of a card; None if there is none, or it cannot be parsed."""
    front = _FRONT.match(_beginning(card))
    try:
        return yaml.safe_load(front[1]) if front else None
    except Exception:  # besides its own errors it raises those of int(), date() and chr(), and of deep nesting
        return None


def _beginning(path: Path) -> str:
    """The first 64 KiB of a file. Empty if it cannot be read, since it is only shown to people."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as stream:
            return stream.read(64 << 10).decode(errors="replace").replace("\0", "")
    except OSError:
        return ""
