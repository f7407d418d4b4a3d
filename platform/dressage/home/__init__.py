"""Home: what a team needs to know first, in one answer."""
