"""Limits on uploads. A file that exceeds one is refused, with the offending line if there is one."""

MAX_FILE_BYTES = 10 << 30
"""Maximum size of a file, also after unpacking."""
MAX_UPLOAD_BYTES = (1 << 30) + (1 << 20)
"""Maximum size of a request with a file and its other fields."""
MAX_UNFINISHED_BYTES = 20 << 30
"""Maximum total size of the unfinished uploads of one team, counted as if complete."""
MAX_UNFINISHED_UPLOADS = 50
"""Maximum number of unfinished uploads per team."""
MAX_PREVIEW_BYTES = 64 << 20
"""Maximum size of a preview request."""
MAX_ARCHIVE_BYTES = 1 << 30
"""Maximum size of a task archive. Archives are read from a copy on disk."""
MAX_EXPANSION = 1_000
"""Maximum ratio by which a packed file may expand, once it exceeds 64 MiB. Text typically packs to about a tenth."""
MAX_ROW_BYTES = 1 << 20
MAX_TASK_BYTES = 16 << 20
"""Maximum size of one task in an archive, including its tests."""
MAX_ROWS = 5_000_000
MAX_BLANK_LINES = 100_000
MAX_DEPTH = 32
MAX_COLUMNS = 256
MAX_REPORTED_ERRORS = 100
"""Maximum number of faults listed in a refusal."""
MAX_REPORT_ROWS = 10_000
"""Maximum number of faults in the report of a refusal. Reading stops there."""
ROWS_PER_GROUP = 2_000
"""Rows per Parquet row group, the unit that a preview reads to show one page."""
GROUP_BYTES = 32 << 20
"""Size of the texts at which a row group ends, even if it has fewer rows. It bounds the memory of all readers."""
