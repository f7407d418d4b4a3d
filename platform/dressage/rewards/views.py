"""REST views of rewards."""

from functools import cache
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.errors import FieldError
from dressage.common.api.idempotency import idempotent
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsEditor
from dressage.common.api.problems import Problem, invalid, validated
from dressage.common.scopes import Noun
from dressage.rewards import selectors, services, trial
from dressage.rewards.serializers import (
    CreateRewardSerializer,
    CreateRewardVersionSerializer,
    RewardSerializer,
    RewardVersionSerializer,
    TryRewardResultSerializer,
    TryRewardSerializer,
)
from dressage.teams.api import ApiView, TeamRequest
from trainer_core.link.bench import ThinkingTags
from trainer_core.rewards import RewardDefinition


class RewardsView(ApiView):
    """All rewards."""

    noun = Noun.REWARDS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (409,)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listRewards", tags=["rewards"], responses=RewardSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """List the team's rewards, newest first."""
        return self.page(selectors.rewards(request.team), RewardSerializer)

    @extend_schema(
        operation_id="createReward",
        tags=["rewards"],
        request=CreateRewardSerializer,
        responses={201: RewardSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest) -> Response:
        """Create a reward."""
        reward = services.create_reward(request.team, request.actor, **self.body(CreateRewardSerializer))
        document = RewardSerializer(selectors.reward(request.team, reward.id)).data
        return Response(document, status=status.HTTP_201_CREATED)


class RewardView(ApiView):
    """One reward."""

    noun = Noun.REWARDS

    @extend_schema(operation_id="getReward", tags=["rewards"], responses=RewardSerializer)
    def get(self, request: TeamRequest, reward_id: str) -> Response:
        """Return a reward with all its versions."""
        return Response(RewardSerializer(selectors.reward(request.team, reward_id)).data)


class RewardVersionsView(ApiView):
    """The versions of a reward."""

    noun = Noun.REWARDS
    roles = {"POST": IsEditor}

    @extend_schema(
        operation_id="createRewardVersion",
        tags=["rewards"],
        request=CreateRewardVersionSerializer,
        responses={201: RewardVersionSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest, reward_id: str) -> Response:
        """Create the next version. Runs that use an earlier version keep it."""
        reward = selectors.reward(request.team, reward_id)
        version = services.create_version(reward, request.actor, **self.body(CreateRewardVersionSerializer))
        return Response(RewardVersionSerializer(version).data, status=status.HTTP_201_CREATED)


class TryRewardView(ApiView):
    """A quick trial of pure graders."""

    noun = Noun.REWARDS
    roles = {"POST": IsEditor}
    problem_statuses = {"POST": (429, 503)}

    @extend_schema(
        operation_id="tryReward", tags=["rewards"], request=TryRewardSerializer, responses=TryRewardResultSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """Score pasted samples immediately, without storing anything.

        Use the bench for graders that need a jail or a judge.
        """
        fields = self.body(TryRewardSerializer)
        definition = fields.get("definition") or self._stored(fields["ref"])
        tags = ThinkingTags.model_validate(fields.get("thinking") or trial.DEFAULT_TAGS)
        if definition.needs_length:
            self._require_lengths(fields["samples"])
        samples = [trial.Pasted(**sample) for sample in fields["samples"]]
        results = trial.try_out(request.team, definition, samples, tags)
        return Response(TryRewardResultSerializer({"results": results}).data)

    def _stored(self, ref: str) -> RewardDefinition:
        try:
            version = selectors.version_by_ref(self.request.team, ref)
        except LookupError as error:
            raise invalid("/ref", str(error), code="unknown_reward") from error
        return validated(RewardDefinition, version.definition, "definition")

    def _require_lengths(self, samples: list[dict[str, Any]]) -> None:
        detail = "This reward uses the length: give the number of tokens."
        missing = [
            FieldError(pointer=f"/samples/{index}/completion_tokens", detail=detail)
            for index, sample in enumerate(samples)
            if "completion_tokens" not in sample
        ]
        if missing:
            raise Problem(422, "Invalid request", detail, errors=missing, code="invalid")


class RewardSchemaView(ApiView):
    """Schema of reward definitions."""

    noun = Noun.REWARDS

    @extend_schema(operation_id="getRewardSchema", tags=["rewards"], responses=OpenApiTypes.OBJECT)
    def get(self, request: TeamRequest) -> Response:
        """Return the JSON Schema of reward definitions, from which the console builds its form."""
        return Response(_schema())


@cache
def _schema() -> dict[str, Any]:
    """The schema. Callers must not modify it."""
    return RewardDefinition.model_json_schema()
