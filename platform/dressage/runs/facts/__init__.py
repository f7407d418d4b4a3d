"""Facts about a run: its documents, slot, cost, health, and what it waits for."""
