"""REST views of teams, one file per noun."""
