"""The reward bench: samples that a worker of the cluster scores with one or two definitions."""
