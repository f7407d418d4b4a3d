"""Goldilocks in two stages: rows that one policy, then a stronger one, neither always solves nor never.

Source: Magistral (arXiv 2506.10910), section 4.
"""
