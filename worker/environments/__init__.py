"""Environments answer the policy between its turns, while the engine generates for other episodes.

    completion ──► text of the turn ──► environment (in the jail) ──► messages ──► tokens ──► the same request continues

Tokens of earlier turns are never encoded again: the engine continues from the tokens it generated, and only the
messages in between are encoded. So the learner trains on exactly what the engine sampled.
"""
