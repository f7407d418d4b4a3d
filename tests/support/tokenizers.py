"""Small tokenizers of the kinds that real policies bring."""

import json
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXT = ["The quick brown fox jumps over the lazy dog.", "user assistant system analysis final", "1 + 2 = 3\n\n"] * 3
CONTROL = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def byte_level(control: tuple[str, ...] = CONTROL, tags: tuple[str, ...] = ("<think>", "</think>")) -> Tokenizer:
    """Byte-level BPE, as Qwen, Llama 3, OLMo and GPT-OSS have it; the first control token is in the vocabulary."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=360, initial_alphabet=alphabet, special_tokens=[control[0]], show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in control])
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in tags])
    return tokenizer


def sentence_piece() -> Tokenizer:
    """Unigram with a space put before the text, as Llama 2, Mistral and Gemma have it; ``<s>`` goes before a prompt."""
    control = ("<unk>", "<s>", "</s>", "[INST]", "[/INST]")
    pieces = [(text, 0.0) for text in control] + [("▁", -2.0), ("▁the", -3.0), ("▁quick", -4.0)]
    pieces += [(character, -5.0) for character in sorted(set("".join(TEXT) + "<>[]/|INSTs_")) if character != " "]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in control])
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


def write_folder(folder: Path, tokenizer: Tokenizer, template: str | None = None, **config: Any) -> Path:
    """The tokenizer's files as a Hugging Face folder has them."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    document = {"tokenizer_class": "PreTrainedTokenizerFast", **config}
    if template is not None:
        document["chat_template"] = template
    (folder / "tokenizer_config.json").write_text(json.dumps(document))
    return folder
