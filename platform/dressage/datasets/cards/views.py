"""REST views of cards."""

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from dressage.common.api.permissions import IsEditor
from dressage.common.api.revisions import if_match, seen_revision
from dressage.common.scopes import Noun
from dressage.datasets import selectors
from dressage.datasets.cards import services
from dressage.datasets.cards.documents import card_of
from dressage.datasets.cards.serializers import DatasetCardSerializer, WriteDatasetCardSerializer
from dressage.teams.api import ApiView, TeamRequest


class DatasetCardView(ApiView):
    """The card of a dataset."""

    noun = Noun.DATASETS
    roles = {"PUT": IsEditor}
    problem_statuses = {"PUT": (412, 428)}

    @extend_schema(
        operation_id="writeDatasetCard",
        tags=["datasets"],
        parameters=[if_match("card")],
        request=WriteDatasetCardSerializer,
        responses=DatasetCardSerializer,
    )
    def put(self, request: TeamRequest, dataset_id: str) -> Response:
        """Set the card: origin of the rows, licence, purpose, caveats and owner.

        `If-Match` is the `revision` of the card as you last saw it, or 0 if it has not been written yet.
        """
        found = selectors.dataset(request.team, dataset_id)
        fields = self.body(WriteDatasetCardSerializer)
        services.change_card(found, request.actor, seen_revision(request, "card"), fields)
        card = card_of(selectors.dataset(request.team, dataset_id))
        return Response(DatasetCardSerializer(card).data, headers={"ETag": f'"{card["revision"]}"'})
