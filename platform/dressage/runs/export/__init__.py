"""Checkpoints that leave: as an archive, or to an object store."""
