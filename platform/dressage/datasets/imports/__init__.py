"""Imports of datasets from the hub, from addresses and from folders, in the background and to be gone on with."""
