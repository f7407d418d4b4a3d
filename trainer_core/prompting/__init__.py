"""How a prompt is put to the policy: hints, strategies, told lengths and thinking budgets."""
