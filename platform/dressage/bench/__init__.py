"""The reward bench: a worker of the cluster scores samples with one or two definitions."""
