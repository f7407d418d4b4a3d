"""Ray clusters of the installation: their names, their sizes, and what fits on them. They belong to no team."""
