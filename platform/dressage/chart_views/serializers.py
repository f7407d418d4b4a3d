"""Bodies of the endpoints of saved views."""

from rest_framework import serializers

from dressage.chart_views.document import ChartsDocument
from dressage.common.openapi.serializers import PydanticField

_SHARED = "Whether the whole team sees it; editors share views and change shared ones."
_DEFAULT = "Whether a run's charts open with it. A team has at most one: it replaces the previous one."


class ChartsField(PydanticField, model=ChartsDocument):
    """Content of a view of charts."""


class ChartViewSerializer(serializers.Serializer):
    """A view of charts."""

    id = serializers.CharField()
    name = serializers.CharField()
    charts = ChartsField()
    shared = serializers.BooleanField(help_text=_SHARED)
    default = serializers.BooleanField(help_text=_DEFAULT)
    owner = serializers.CharField(help_text="Id of the user or token that owns it.")
    created_at = serializers.DateTimeField()
    created_by = serializers.CharField()


class CreateChartViewSerializer(serializers.Serializer):
    """A view to save."""

    name = serializers.CharField(max_length=80)
    charts = ChartsField()
    shared = serializers.BooleanField(default=False, help_text=_SHARED)
    default = serializers.BooleanField(default=False, help_text=_DEFAULT)


class UpdateChartViewSerializer(serializers.Serializer):
    """Changes to a view."""

    name = serializers.CharField(max_length=80, required=False)
    charts = ChartsField(required=False)
    shared = serializers.BooleanField(required=False, help_text=_SHARED)
    default = serializers.BooleanField(required=False, help_text=_DEFAULT)
