"""What advantages of groups share: whitening over the batch."""

from typing import Literal

from trainer_core.spec.methods.kinds import AdvantageModel


class GroupAdvantage(AdvantageModel):
    """A method whose advantages may be whitened afterwards."""

    whiten: Literal["none", "batch"] = "none"
    """Whether the advantages are standardised over the batch afterwards (population deviation; 0 stays 0 where a
    group carries no signal)."""

    @property
    def groupwise(self) -> bool:
        """Whether the advantages of a group follow from that group alone: not if the batch standardises them."""
        return self.compares == "group" and self.whiten != "batch"
