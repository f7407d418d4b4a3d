"""Caps on uploads. A file that breaks one is refused with the line that does."""

MAX_FILE_BYTES = 1 << 30
MAX_UPLOAD_BYTES = MAX_FILE_BYTES + (1 << 20)
"""Bytes of a request with a file and the fields beside it."""
MAX_ROW_BYTES = 1 << 20
MAX_ROWS = 5_000_000
MAX_DEPTH = 32
MAX_COLUMNS = 256
MAX_REPORTED_ERRORS = 100
ROWS_PER_GROUP = 2_000
"""Rows in a Parquet row group: what the preview reads to show one page."""
