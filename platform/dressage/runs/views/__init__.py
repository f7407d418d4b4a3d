"""REST views of runs: they check the caller and the body, and call the services."""
