"""Ray clusters of the installation: which there are, how large each is, and what fits on it. They belong to no team."""
