"""One request of the engine: its checks, its tokens as they come, and why it ends."""
