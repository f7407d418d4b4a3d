"""Packed tokens: micro-batches without padding, their attention, and their split over ranks."""
