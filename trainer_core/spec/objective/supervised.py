"""Supervised training: the policy learns to write what the rows of its datasets hold."""

from typing import ClassVar, Literal

from trainer_core.spec.base import Advice, SpecModel, field, method_doc


class Supervised(SpecModel):
    """The policy learns the completions of the rows, token by token."""

    model_config = method_doc(
        "Supervised fine-tuning",
        "L = Σ_t m_t · −log π_θ(y_t | y_<t) / Σ_t m_t over the tokens of a step that teach (m_t = 1)",
        "InstructGPT (arXiv 2203.02155), step 1; all tokens: continued pre-training",
    )
    advice: ClassVar[Advice] = Advice(
        "Before reinforcement learning, so that the policy finds answers at all; to teach a format, a domain or a "
        "style; to learn from a stronger policy's answers.",
        ("sft/loss", "eval/<source>/loss", "actor/grad_norm"),
    )
    type: Literal["sft"] = "sft"
    completion: str = field("completion", min_length=1, max_length=200)
    """Column of the dataset that holds the completion as text. It follows the row's prompt or messages."""
    learn: Literal["completion", "assistant", "all"] = "assistant"
    """Tokens that teach: those of the completion, of every turn of the assistant, or of the whole text, the prompt
    included. With ``all`` a row needs no completion: plain text is learned as it is."""
    max_tokens: int = field(2048, ge=8, le=10_000_000, unit="tokens")
    """Most tokens of one example, the prompt included."""
    overlong: Literal["refuse", "drop", "cut", "split"] = "refuse"
    """Examples of more tokens: the run does not start and names them, they are left out, cut at the end, or split into
    several. The alert at the start gives their number."""
    noise: float = field(0.0, ge=0.0, le=1000.0, steer="optimizer_step")
    """Strength α of uniform noise on the embeddings of an example of n tokens in d dimensions,
    α / √(n · d) · U(−1, 1) (NEFTune, arXiv 2310.05914, eq. 1). 0: none. NEFTune uses 5 to 15."""
