"""Reports: text, charts and tables of runs in an order that tells something, shared in the team."""
