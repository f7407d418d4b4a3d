"""A run before it is created: its plan, its batches and its curriculum."""
