"""Bodies of a run's incidents."""

from dressage.common.documents import DocumentSerializer
from dressage.runs.watch.incidents.documents import IncidentsDocument


class IncidentsSerializer(DocumentSerializer, document=IncidentsDocument):
    """The incidents of a run."""
