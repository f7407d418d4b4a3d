"""Families of models that the libraries load and that cannot be trained here, by the first part of their class."""

from __future__ import annotations

RECURRENT = frozenset(
    """
    Bamba FalconH1 FalconMamba GraniteMoeHybrid Inkling Jamba KimiLinear Lfm2 Lfm2Moe Mamba Mamba2 NemotronH
    OlmoHybrid Qwen3Next Qwen3_5 Qwen3_5Moe RecurrentGemma Rwkv Zamba Zamba2 xLSTM
    """.split()  # noqa: SIM905 - a name a line would fill a page
)
"""Families with layers whose state goes from token to token, so that packed sequences would mix."""
FIXED_ATTENTION = frozenset(
    """
    BioGpt Bloom Blt CodeGen CpmAnt Falcon GPTJ GPTNeo GPTNeoXJapanese Mpt OpenAIGPT StableLm XGLM
    """.split()  # noqa: SIM905 - a name a line would fill a page
)
"""Families whose class in transformers computes attention in its own way, which cannot be told of packed sequences."""
