"""The live stream: WebSocket consumers that read the database whenever the doorbell rings."""
