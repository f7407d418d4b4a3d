"""Goldilocks in two stages: rows that one policy, and then a stronger one, solves sometimes but not always.

Source: Magistral (arXiv 2506.10910), section 4.
"""
