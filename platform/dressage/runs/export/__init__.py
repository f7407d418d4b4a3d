"""Export of checkpoints: as an archive, or to an object store."""
