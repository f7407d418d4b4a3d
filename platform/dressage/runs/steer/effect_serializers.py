"""Bodies of the effect of a control."""

from dressage.common.openapi.documents import DocumentSerializer
from dressage.runs.steer.effects import ControlEffectDocument


class ControlEffectSerializer(DocumentSerializer, document=ControlEffectDocument):
    """The effect of a control."""
