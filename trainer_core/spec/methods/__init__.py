"""Parameters of the methods: advantages, losses, corrections, filters and their kin."""
