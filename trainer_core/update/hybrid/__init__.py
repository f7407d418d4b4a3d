"""Hybrid policies: lightning attention among softmax attention, experts instead of one MLP (MiniMax-M1).

transformers has the classes; here are the forward passes that know of packed sequences, and what training asks of a
router: to count, to be balanced, to route as the engine did.
"""
