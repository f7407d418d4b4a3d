"""Files as people have them: formats, packing, faults, and rows read in bounded memory. Knows no Django."""
