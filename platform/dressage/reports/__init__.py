"""Reports: text, charts and tables of runs in a meaningful order, shared in the team."""
