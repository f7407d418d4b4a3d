"""REST views of runs: they check the caller and the body, and hand over."""
