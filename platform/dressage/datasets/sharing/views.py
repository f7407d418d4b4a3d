"""REST views of shares."""

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.response import Response

from dressage.common.api.idempotency import idempotent, idempotent_for_its_caller
from dressage.common.api.paging import page_query
from dressage.common.api.permissions import IsAdmin
from dressage.common.scopes import Noun
from dressage.datasets.selectors import dataset
from dressage.datasets.sharing import guests, selectors, services
from dressage.datasets.sharing.serializers import (
    AcceptDatasetSerializer,
    DatasetOfferSerializer,
    DatasetShareSerializer,
    NewDatasetShareSerializer,
    OfferDatasetSerializer,
    SharedDatasetSerializer,
)
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.serializers import with_secret


class DatasetSharesView(ApiView):
    """Offers and shares of a dataset."""

    noun = Noun.DATASETS
    people_only = frozenset({"POST"})
    roles = {"GET": IsAdmin, "POST": IsAdmin}
    problem_statuses = {"POST": (409,)}
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listDatasetShares", tags=["datasets"], responses=DatasetShareSerializer(many=True))
    def get(self, request: TeamRequest, dataset_id: str) -> Response:
        """List the teams that read the dataset and the open offers, newest first."""
        return self.page(selectors.shares(dataset(request.team, dataset_id)), DatasetShareSerializer)

    @extend_schema(
        operation_id="offerDataset",
        tags=["datasets"],
        request=OfferDatasetSerializer,
        responses={201: NewDatasetShareSerializer},
    )
    @idempotent_for_its_caller
    def post(self, request: TeamRequest, dataset_id: str) -> Response:
        """Offer another team read access. The link is shown only once. An admin of that team accepts it."""
        found = dataset(request.team, dataset_id)
        made, link = services.offer(found, request.actor, **self.body(OfferDatasetSerializer))
        return Response(with_secret(NewDatasetShareSerializer, made, link=link), status=status.HTTP_201_CREATED)


class DatasetShareView(ApiView):
    """One offer or share."""

    noun = Noun.DATASETS
    people_only = frozenset({"DELETE"})
    roles = {"DELETE": IsAdmin}

    @extend_schema(operation_id="revokeDatasetShare", tags=["datasets"], responses={204: None})
    def delete(self, request: TeamRequest, dataset_id: str, share_id: str) -> Response:
        """Withdraw an offer, or end a share.

        The other team can start nothing new with the rows. Work that it has already started continues, and what it has
        derived stays.
        """
        services.revoke(dataset(request.team, dataset_id), request.actor, share_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class DatasetOfferView(ApiView):
    """The content of an offer."""

    noun = Noun.DATASETS
    roles = {"GET": IsAdmin}

    @extend_schema(operation_id="readDatasetOffer", tags=["datasets"], responses=DatasetOfferSerializer)
    def get(self, request: TeamRequest, secret: str) -> Response:
        """Show which team offers which dataset, to anyone who has the link."""
        return Response(DatasetOfferSerializer(selectors.offered(secret)).data)


class AcceptDatasetView(ApiView):
    """Acceptance of an offer."""

    noun = Noun.DATASETS
    people_only = frozenset({"POST"})
    roles = {"POST": IsAdmin}
    problem_statuses = {"POST": (409,)}

    @extend_schema(
        operation_id="acceptDataset",
        tags=["datasets"],
        request=AcceptDatasetSerializer,
        responses={201: SharedDatasetSerializer},
    )
    @idempotent
    def post(self, request: TeamRequest, secret: str) -> Response:
        """Accept the offer, and read the dataset under your own name for it. The other team sees your team's name."""
        made = services.accept(request.team, request.actor, secret, **self.body(AcceptDatasetSerializer))
        return Response(SharedDatasetSerializer(made).data, status=status.HTTP_201_CREATED)


class SharedDatasetsView(ApiView):
    """Datasets of other teams."""

    noun = Noun.DATASETS
    queries = {"GET": page_query()}

    @extend_schema(operation_id="listSharedDatasets", tags=["datasets"], responses=SharedDatasetSerializer(many=True))
    def get(self, request: TeamRequest) -> Response:
        """List the datasets that other teams share with this one, newest first. They are read-only."""
        return self.page(guests.with_datasets(guests.shares_with(request.team)), SharedDatasetSerializer)
