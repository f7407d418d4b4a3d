"""Methods: one file each, a pure function over tensors; parameters live in ``trainer_core.spec``."""
