"""Byte-level tokenizers for tiny policies of real architectures, with their chat template and special tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

VOCABULARY = 320
"""Size of every tokenizer here: bytes, special tokens, and words up to this number."""

_WORDS = (
    " the to and is of in he er on an re at en ll th or es st ar te it al ed le se ve me ou ow ch sh "
    "ing ion ent add sum how many left each more less then there what when with for are was has had "
    "000 100 10 12 15 20 25 30 40 50 60 == ## \n\n"
)
_GENERATION = "{% if add_generation_prompt %}"
_EACH = "{% for m in messages %}"


@dataclass(frozen=True, slots=True)
class Chat:
    """Tokens and template of one family."""

    pad: str
    eos: str
    """Ends a text."""
    end_of_turn: str
    """Ends an answer; may be ``eos``."""
    template: str
    """The family's template without its system defaults and tools (Jinja)."""
    bos: str | None = None
    """Prepended to every encoded text, if given."""
    special: tuple[str, ...] = ()
    """Other tokens that ``skip_special_tokens`` removes."""
    plain: tuple[str, ...] = ()
    """Other tokens that stay in decoded text, such as thinking tags."""


CHATML = Chat(
    "<|endoftext|>",
    "<|im_end|>",
    "<|im_end|>",
    _EACH
    + "<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    + _GENERATION
    + "<|im_start|>assistant\n{% endif %}",
    special=("<|im_start|>",),
)
THINKING = Chat(
    CHATML.pad, CHATML.eos, CHATML.end_of_turn, CHATML.template, None, CHATML.special, ("<think>", "</think>")
)
LLAMA_3 = Chat(
    "<|finetune_right_pad_id|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "{{ bos_token }}"
    + _EACH
    + "<|start_header_id|>{{ m['role'] }}<|end_header_id|>\n\n{{ m['content'] }}<|eot_id|>{% endfor %}"
    + _GENERATION
    + "<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}",
    "<|begin_of_text|>",
    ("<|start_header_id|>", "<|end_header_id|>"),
)
MISTRAL = Chat(
    "<pad>",
    "</s>",
    "</s>",
    "{{ bos_token }}"
    + _EACH
    + "{% if m['role'] == 'assistant' %}{{ m['content'] }}</s>{% else %}[INST] {{ m['content'] }} [/INST]{% endif %}"
    + "{% endfor %}",
    "<s>",
    ("[INST]", "[/INST]"),
)
GEMMA = Chat(
    "<pad>",
    "<eos>",
    "<end_of_turn>",
    "{{ bos_token }}"
    + _EACH
    + "<start_of_turn>{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n{{ m['content'] }}<end_of_turn>\n"
    + "{% endfor %}"
    + _GENERATION
    + "<start_of_turn>model\n{% endif %}",
    "<bos>",
    ("<start_of_turn>",),
)
PHI = Chat(
    "<|placeholder|>",
    "<|endoftext|>",
    "<|end|>",
    _EACH + "<|{{ m['role'] }}|>\n{{ m['content'] }}<|end|>\n{% endfor %}" + _GENERATION + "<|assistant|>\n{% endif %}",
    special=("<|system|>", "<|user|>", "<|assistant|>"),
)
OLMO = Chat(
    "<|pad|>",
    "<|endoftext|>",
    "<|endoftext|>",
    _EACH
    + "<|{{ m['role'] }}|>\n{{ m['content'] }}{% if m['role'] == 'assistant' %}<|endoftext|>{% endif %}{{ '\n' }}"
    + "{% endfor %}"
    + _GENERATION
    + "<|assistant|>\n{% endif %}",
    special=("<|system|>", "<|user|>", "<|assistant|>"),
)
GRANITE = Chat(
    "<|pad|>",
    "<|end_of_text|>",
    "<|end_of_text|>",
    _EACH
    + "<|start_of_role|>{{ m['role'] }}<|end_of_role|>{{ m['content'] }}<|end_of_text|>\n{% endfor %}"
    + _GENERATION
    + "<|start_of_role|>assistant<|end_of_role|>{% endif %}",
    special=("<|start_of_role|>", "<|end_of_role|>"),
)
HARMONY = Chat(
    "<|endoftext|>",
    "<|return|>",
    "<|return|>",
    _EACH
    + "<|start|>{{ m['role'] }}<|message|>{{ m['content'] }}<|end|>{% endfor %}"
    + _GENERATION
    + "<|start|>assistant{% endif %}",
    special=("<|start|>", "<|message|>", "<|end|>", "<|channel|>", "<|call|>"),
)
DEEPSEEK = Chat(
    "<｜▁pad▁｜>",
    "<｜end▁of▁sentence｜>",
    "<｜end▁of▁sentence｜>",
    "{{ bos_token }}"
    + _EACH
    + "{% if m['role'] == 'user' %}<｜User｜>{{ m['content'] }}{% elif m['role'] == 'assistant' %}<｜Assistant｜>"
    + "{{ m['content'] }}<｜end▁of▁sentence｜>{% else %}{{ m['content'] }}{% endif %}{% endfor %}"
    + _GENERATION
    + "<｜Assistant｜>{% endif %}",
    "<｜begin▁of▁sentence｜>",
    ("<｜User｜>", "<｜Assistant｜>"),
    ("<think>", "</think>"),
)


def build_chat_tokenizer(chat: Chat, max_length: int) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer of ``VOCABULARY`` tokens with the special tokens and the template of ``chat``.

    Args:
        chat: the family.
        max_length: longest sequence the policy accepts, in tokens.
    """
    from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers, processors
    from tokenizers.models import BPE
    from transformers import PreTrainedTokenizerFast

    special = list(dict.fromkeys([chat.pad, *filter(None, [chat.bos]), chat.eos, chat.end_of_turn, *chat.special]))
    own = [*special, *chat.plain]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words, merges = _words(VOCABULARY - len(own) - len(alphabet), set(alphabet))
    vocabulary = {token: number for number, token in enumerate([*own, *alphabet, *words])}
    backend = Tokenizer(BPE(vocab=vocabulary, merges=merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    backend.add_tokens([AddedToken(token, special=False, normalized=False) for token in chat.plain])
    if chat.bos is not None:
        backend.post_processor = processors.TemplateProcessing(
            single=f"{chat.bos} $A",
            pair=f"{chat.bos} $A {chat.bos} $B",
            special_tokens=[(chat.bos, vocabulary[chat.bos])],
        )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=chat.pad,
        eos_token=chat.eos,
        bos_token=chat.bos,
        padding_side="left",
        model_max_length=max_length,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = chat.template
    return tokenizer


def _words(count: int, known: set[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Exactly ``count`` tokens of more than one byte, in byte-level letters, and the merges that produce them."""
    words: list[str] = []
    merges: list[tuple[str, str]] = []
    have = set(known)
    for word in _candidates():
        for end in range(2, len(word) + 1):
            if len(words) == count:
                return words, merges
            if word[:end] not in have:
                have.add(word[:end])
                words.append(word[:end])
                merges.append((word[: end - 1], word[end - 1]))
    raise ValueError(f"{count} tokens are more than there are words for")


def _candidates() -> list[str]:
    """Words with and without a leading space, in byte-level letters (``Ġ`` is a space, ``Ċ`` a newline)."""
    words = [word.replace("\n", "Ċ") for word in _WORDS.split(" ") if word]
    return [*words, *(f"Ġ{word}" for word in words)]
