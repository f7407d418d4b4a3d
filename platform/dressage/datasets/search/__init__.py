"""Search in the rows of a version by words and conditions. Large versions have an index next to their file."""
