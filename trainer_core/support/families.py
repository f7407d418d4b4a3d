"""Model families that the libraries load but that cannot be trained here, by the first part of their class name."""

from __future__ import annotations

RECURRENT = frozenset(
    """
    Bamba FalconH1 FalconMamba GraniteMoeHybrid Inkling Jamba KimiLinear Lfm2 Lfm2Moe Mamba Mamba2 NemotronH
    OlmoHybrid Qwen3Next Qwen3_5 Qwen3_5Moe RecurrentGemma Rwkv Zamba Zamba2 xLSTM
    """.split()  # noqa: SIM905 - a name a line would fill a page
)
"""Families with recurrent layers, whose state would leak between packed sequences."""
FIXED_ATTENTION = frozenset(
    """
    BioGpt Bloom Blt CodeGen CpmAnt Falcon GPTJ GPTNeo GPTNeoXJapanese Mpt OpenAIGPT StableLm XGLM
    """.split()  # noqa: SIM905 - a name a line would fill a page
)
"""Families whose class in transformers has its own attention code, which does not support packed sequences."""
