"""Evolving rubrics: proposals of runs, and the decisions of people about them."""
