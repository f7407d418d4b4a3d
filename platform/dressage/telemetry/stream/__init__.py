"""The live stream: WebSocket consumers that read the database, and the doorbell that wakes them."""
