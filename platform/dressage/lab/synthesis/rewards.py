"""Rewards whose graders verify variations, and which of them a team may name."""

from dressage.common.api.problems import invalid
from dressage.lab.arguments import SynthesiseRows
from dressage.rewards.selectors import version_by_ref
from dressage.teams.models import Team
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.graders import leaves
from trainer_core.rewards.graders.math.math import MathGrader


def verifying_reward(team: Team, operation: SynthesiseRows) -> RewardDefinition | None:
    """The reward of an operation; None if it names none.

    Raises:
        Problem: 422 if the reward does not exist, or has graders that need the cluster.
    """
    if operation.reward is None:
        return None
    pointer = "/operation/reward"
    try:
        found = RewardDefinition.model_validate(version_by_ref(team, operation.reward).definition)
    except LookupError as error:
        raise invalid(pointer, str(error), code="unknown_reference") from error
    graders = [leaf for component in found.components for leaf in leaves(component.grader)]
    unfit = sorted({leaf.type for leaf in graders if leaf.tool is not None and not isinstance(leaf, MathGrader)})
    if unfit:
        detail = (
            f"{operation.reward} grades by {', '.join(unfit)}, which need the cluster: a jail, a judge or a reward"
            " model. Variations are verified on the platform's machine; choose a reward without these."
        )
        raise invalid(pointer, detail, code="unfit_reward")
    if found.needs_length:
        detail = f"{operation.reward} grades by the number of tokens, which an answer's text does not have."
        raise invalid(pointer, detail, code="unfit_reward")
    return found
