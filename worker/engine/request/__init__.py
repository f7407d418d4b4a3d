"""One request of the engine: its checks, its tokens as they arrive, and why it ends."""
