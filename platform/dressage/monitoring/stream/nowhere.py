"""Every other address."""

from channels.generic.websocket import AsyncWebsocketConsumer

from dressage.monitoring.stream.base import NOT_FOUND


class NowhereConsumer(AsyncWebsocketConsumer):
    """Reports that there is no stream at this address."""

    async def connect(self) -> None:
        # Accepted first, so that browsers learn why they are refused.
        await self.accept()
        await self.close(NOT_FOUND)
