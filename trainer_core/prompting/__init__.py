"""Prompting of the policy: hints, strategies, told lengths and thinking budgets."""
