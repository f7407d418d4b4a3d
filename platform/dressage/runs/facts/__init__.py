"""What is known of a run: its documents, place, cost, health, and what it waits for."""
