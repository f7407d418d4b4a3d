"""The view of a micro-batch for losses and corrections: one value per predicted token."""

from dataclasses import dataclass, fields

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Candidates:
    """The policy's own likeliest tokens at each position, at the sampling temperature."""

    logprobs: Tensor
    """Log-probabilities of the K likeliest, [N, K], with gradient."""
    entropies: Tensor
    """Entropy of the whole distribution, in nats, [N]. No gradient."""
    likeliest: Tensor
    """Whether the sampled token is the likeliest of all, bool [N]."""

    def within(self, mask: Tensor) -> "Candidates":
        """The same with 0 outside ``mask`` [N], whatever was there."""
        return Candidates(
            self.logprobs.masked_fill(~mask.unsqueeze(1), 0.0),
            self.entropies.detach().masked_fill(~mask, 0.0),
            self.likeliest & mask,
        )


@dataclass(frozen=True, slots=True)
class TokenView:
    """The tokens of one micro-batch, shapes [N]. The tokens of a sequence are contiguous and in order; no sequence is
    split.

    Values outside the mask become 0, whatever they were, so methods never see a NaN or an infinity there.
    """

    logprobs: Tensor
    """Current policy, with gradient."""
    old_logprobs: Tensor
    """Proximal policy: the learner's before the step's first update, unless the spec names another. No gradient."""
    behaviour_logprobs: Tensor
    """The policy that sampled, at its sampling temperature. No gradient."""
    advantages: Tensor
    mask: Tensor
    """bool: tokens that count. A sequence's ratio or mean is over its counted tokens."""
    sequence: Tensor
    """int64: which trajectory a token belongs to; the numbers need be neither dense nor ascending."""
    divergence: Tensor | None = None
    """Divergence between behaviour and current policy, if it was computed over more than the sampled token. No
    gradient."""
    log_shift: Tensor | None = None
    """Log of the weight, at most 0, by which expert routing has shifted since the proximal policy. No
    gradient."""
    candidates: Candidates | None = None
    """The policy's likeliest tokens, if the loss uses them."""

    def __post_init__(self) -> None:
        if self.candidates is not None:
            object.__setattr__(self, "candidates", self.candidates.within(self.mask))
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Tensor) and value.is_floating_point():
                value = value if field.name == "logprobs" else value.detach()
                object.__setattr__(self, field.name, value.masked_fill(~self.mask, 0.0))

    @property
    def log_ratio(self) -> Tensor:
        """log π_θ − log π_old, with gradient, rescaled if the routing has shifted; 0 outside the mask."""
        difference = self.logprobs - self.old_logprobs
        return difference if self.log_shift is None else difference + self.log_shift

    @property
    def log_mismatch(self) -> Tensor:
        """log π_old − log π_behaviour, without gradient; 0 outside the mask."""
        return self.old_logprobs - self.behaviour_logprobs

    @property
    def log_behaviour_ratio(self) -> Tensor:
        """log π_θ − log π_behaviour, with gradient; 0 outside the mask."""
        return self.logprobs - self.behaviour_logprobs
