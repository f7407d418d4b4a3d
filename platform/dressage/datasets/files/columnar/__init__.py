"""Fast path: thousands of rows at a time, column by column, for files without irregularities.

The row-by-row path (``reading``, ``storage``) accepts everything that this one accepts, and stores the same bytes. A
block of rows is examined as a whole. If anything in it is irregular, none of its rows are taken, and the slow path
decides row by row.
"""
