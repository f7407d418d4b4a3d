"""User files: formats, packing, faults, and rows read in bounded memory. Does not depend on Django."""
