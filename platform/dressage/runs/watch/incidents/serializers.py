"""Bodies of a run's incidents."""

from dressage.common.openapi.documents import DocumentSerializer
from dressage.runs.watch.incidents.documents import IncidentsDocument


class IncidentsSerializer(DocumentSerializer, document=IncidentsDocument):
    """The incidents of a run."""
