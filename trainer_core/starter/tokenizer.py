"""A character tokenizer in Hugging Face's own format: printable ASCII, newline, and five special tokens."""

import string

from tokenizers import AddedToken, Tokenizer, decoders
from tokenizers.models import BPE
from transformers import PreTrainedTokenizerFast

PAD, EOS, UNKNOWN = "<pad>", "<eos>", "<unk>"
THINK_START, THINK_END = "<think>", "</think>"

# Digits and operators come first only to make token ids of arithmetic easy to read in a debugger.
_CHARACTERS = "0123456789+-*/=" + "".join(
    c for c in string.printable if c not in "0123456789+-*/=" and (c.isprintable() or c == "\n")
)

# The prompt is the last user message unchanged, so chat requests and plain prompts reach the policy as the same tokens.
_CHAT_TEMPLATE = "{{ (messages | selectattr('role', 'equalto', 'user') | list | last)['content'] }}"


def build_tokenizer(max_length: int) -> PreTrainedTokenizerFast:
    """The starter policy's tokenizer.

    A BPE model without merges is a character tokenizer that every Hugging Face consumer can load. The thinking tags are
    single tokens but not *special*: like Qwen3's own, they survive ``skip_special_tokens`` and stay in decoded text.
    Characters outside the vocabulary become ``<unk>``.

    Args:
        max_length: longest sequence the policy accepts, in tokens.
    """
    vocabulary = {token: index for index, token in enumerate((PAD, EOS, UNKNOWN, THINK_START, THINK_END, *_CHARACTERS))}
    backend = Tokenizer(BPE(vocab=vocabulary, merges=[], unk_token=UNKNOWN, fuse_unk=False))
    backend.decoder = decoders.Fuse()
    backend.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in (PAD, EOS, UNKNOWN)])
    backend.add_tokens([AddedToken(token, special=False, normalized=False) for token in (THINK_START, THINK_END)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token=PAD,
        eos_token=EOS,
        unk_token=UNKNOWN,
        padding_side="left",
        model_max_length=max_length,
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = _CHAT_TEMPLATE
    return tokenizer
