"""Writes of proposals: runs make them, people decide. Accepting and taking back make versions; none is ever changed."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from dressage.common.actors import Actor
from dressage.common.api.problems import conflict
from dressage.rewards import services as rewards
from dressage.rewards.models import Reward, RewardVersion, RubricProposal
from dressage.rewards.models.proposal import ProposalState
from dressage.rewards.proposals.rubric import with_item, without_item
from dressage.teams.services import record_audit
from trainer_core.rewards import RewardDefinition


@transaction.atomic
def store_proposals(
    run: Any, version: RewardVersion, *, attempt: int, step: int, component: str, found: Iterable[dict[str, Any]]
) -> list[RubricProposal]:
    """Keep what a run proposes. One that says the same as a proposal that waits or was decided is not kept again.

    Args:
        run: the run that proposes.
        version: under which the rollouts were scored.
        attempt: the attempt of the run.
        step: at which they were found.
        component: the component whose rubric would get the items.
        found: ``{name, description, weight, prompt_id, prompt_text, better, worse, better_reward, worse_reward,
            reason}``.
    """
    # Two runs may find the same at once: what comes to one reward is in a line.
    Reward.objects.select_for_update(no_key=True).get(pk=version.reward_id)
    known = set(
        RubricProposal.objects.filter(reward=version.reward, component=component).values_list("name", "description")
    )
    made = []
    for fields in found:
        key = (fields["name"], fields["description"])
        if key not in known:
            known.add(key)
            made.append(
                RubricProposal(
                    reward=version.reward,
                    reward_version=version,
                    run=run,
                    attempt=attempt,
                    step=step,
                    component=component,
                    **fields,
                )
            )
    return RubricProposal.objects.bulk_create(made)


@transaction.atomic
def accept_proposal(
    proposal: RubricProposal, actor: Actor, *, edits: dict[str, Any], note: str = ""
) -> tuple[RubricProposal, RewardVersion]:
    """Make the reward's next version, which is its newest one with the item appended to the component's rubric.

    Args:
        proposal: the proposal that waits; one that was retired may be accepted after all.
        actor: who decides.
        edits: what the person has changed of the item: ``name``, ``description``, ``weight``.
        note: the person's words.

    Raises:
        Problem: 409 when it was accepted already, or the newest version has no such rubric or has the item's name;
            422 when the edited item makes no valid rubric.
    """
    reward, proposal = _locked(proposal)
    if proposal.state == ProposalState.ACCEPTED:
        raise conflict("The proposal was accepted already.", code="wrong_state")
    item = {name: edits.get(name, getattr(proposal, name)) for name in ("name", "description", "weight")}
    definition = with_item(reward.latest_version.definition, proposal.component, item)
    words = note or f"accepts {item['name']!r} for {proposal.component}, proposed {_origin(proposal)}"
    version = _next_version(reward, actor, definition, words)
    proposal.accepted_version, proposal.accepted_name = version, item["name"]
    _decide(proposal, actor, ProposalState.ACCEPTED, note, {**item, "version": version.ref})
    return proposal, version


@transaction.atomic
def retire_proposal(
    proposal: RubricProposal, actor: Actor, *, note: str = ""
) -> tuple[RubricProposal, RewardVersion | None]:
    """Put a proposal away. If it was accepted and the newest version still has the item, the next one is without it.

    Returns:
        The proposal, and the version that was made, if any.

    Raises:
        Problem: 409 when the rubric needs that item.
    """
    reward, proposal = _locked(proposal)
    if proposal.state == ProposalState.RETIRED:
        return proposal, None
    version = None
    if proposal.state == ProposalState.ACCEPTED:
        rest = without_item(reward.latest_version.definition, proposal.component, proposal.accepted_name)
        if rest is not None:
            words = note or f"retires {proposal.accepted_name!r} of {proposal.component}"
            version = _next_version(reward, actor, rest, words)
    _decide(proposal, actor, ProposalState.RETIRED, note, {"version": version and version.ref})
    return proposal, version


def _locked(proposal: RubricProposal) -> tuple[Reward, RubricProposal]:
    """Both rows, the reward first: decisions about one reward are in a line."""
    reward = Reward.objects.select_for_update(no_key=True).get(pk=proposal.reward_id)
    return reward, RubricProposal.objects.select_for_update().get(pk=proposal.pk)


def _next_version(reward: Reward, actor: Actor, definition: RewardDefinition, note: str) -> RewardVersion:
    return rewards.create_version(reward, actor, definition=definition, note=note[:2000])


def _decide(proposal: RubricProposal, actor: Actor, state: ProposalState, note: str, facts: dict[str, Any]) -> None:
    before = {"state": proposal.state, "name": proposal.name, "component": proposal.component}
    proposal.state, proposal.note = state, note
    proposal.decided_by, proposal.decided_at = actor.label, timezone.now()
    proposal.save()
    verb = "accept" if state == ProposalState.ACCEPTED else "retire"
    after = {"state": state, **facts}
    team = proposal.reward.team
    record_audit(team, actor, f"proposal.{verb}", "proposal", proposal.id, before=before, after=after, reason=note)


def _origin(proposal: RubricProposal) -> str:
    return f"by {proposal.run.name} at step {proposal.step}" if proposal.run else f"at step {proposal.step}"
