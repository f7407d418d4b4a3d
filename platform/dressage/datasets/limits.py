"""Caps on uploads. A file that breaks one is refused with the line that does."""

MAX_FILE_BYTES = 10 << 30
"""Bytes of a file, also of what a packed one unpacks to."""
MAX_UPLOAD_BYTES = (1 << 30) + (1 << 20)
"""Bytes of a request with a file and the fields beside it."""
MAX_UNFINISHED_BYTES = 20 << 30
"""Bytes that the unfinished uploads of one team may have, when they are finished."""
MAX_UNFINISHED_UPLOADS = 50
"""Unfinished uploads of one team."""
MAX_PREVIEW_BYTES = 64 << 20
"""Bytes of a request that asks how a file would be read."""
MAX_ARCHIVE_BYTES = 1 << 30
"""Bytes that an archive of tasks may hold: it is read from a copy on disk."""
MAX_EXPANSION = 1_000
"""Times its own size that a packed file may unpack to, once that is more than 64 MiB. Text packs to a tenth or so."""
MAX_ROW_BYTES = 1 << 20
MAX_TASK_BYTES = 16 << 20
"""Bytes of one task of an archive, with its tests."""
MAX_ROWS = 5_000_000
MAX_BLANK_LINES = 100_000
MAX_DEPTH = 32
MAX_COLUMNS = 256
MAX_REPORTED_ERRORS = 100
"""Faults that a refusal lists."""
MAX_REPORT_ROWS = 10_000
"""Faults that the report of a refusal holds; reading ends there."""
ROWS_PER_GROUP = 2_000
"""Rows in a Parquet row group: what the preview reads to show one page."""
