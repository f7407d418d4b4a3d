"""Packed tokens: micro-batches without padding, their attention, and their cut over ranks."""
