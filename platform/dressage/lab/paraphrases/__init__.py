"""Rows that say the same in other words, found by comparing a model's embeddings of them."""
