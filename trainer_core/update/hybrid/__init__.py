"""Hybrid policies: lightning attention among softmax attention, experts instead of one MLP (MiniMax-M1).

The classes are in transformers. This package has the forward passes for packed sequences, and what training needs from
a router: counting loads, balancing them, and replaying the engine's routes.
"""
