"""Changes to proposals. Runs propose, people decide. Decisions create new versions and never change existing ones."""

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
    """Store what a run proposes. Proposals that repeat an open or decided one are not stored again.

    Args:
        run: the run that makes the proposals.
        version: the version that scored the rollouts.
        attempt: the attempt of the run.
        step: the step at which they were found.
        component: the component whose rubric would get the items.
        found: ``{name, description, weight, prompt_id, prompt_text, better, worse, better_reward, worse_reward,
            reason}``.
    """
    # Two runs may find the same item at the same time, so proposals for one reward are serialised.
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
    """Create the reward's next version: its newest one with the item appended to the component's rubric.

    Args:
        proposal: the open proposal; a retired one may be accepted as well.
        actor: who decides.
        edits: changes to the item: ``name``, ``description``, ``weight``.
        note: the person's comment.

    Raises:
        Problem: 409 if it has already been accepted, or the newest version has no such rubric or already has an item of
            that name; 422 if the edited item does not give a valid rubric.
    """
    reward, proposal = _locked(proposal)
    if proposal.state == ProposalState.ACCEPTED:
        raise conflict("The proposal was already accepted.", code="wrong_state")
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
    """Retire a proposal. If it was accepted and the newest version still has the item, create a version without it.

    Returns:
        The proposal, and the new version, if any.

    Raises:
        Problem: 409 if the rubric needs the item.
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
    """Both rows, locked. The reward comes first, so that decisions about one reward are serialised."""
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
