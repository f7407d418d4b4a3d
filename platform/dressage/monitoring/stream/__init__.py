"""The live stream: WebSocket consumers that read the database whenever a message wakes them."""
