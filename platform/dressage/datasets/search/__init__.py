"""Search in the rows of a version: words and conditions, with an index beside the file of a large one."""
