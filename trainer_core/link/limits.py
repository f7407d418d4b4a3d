"""Sizes on which both sides go by."""

MAX_EVENTS = 500
"""Events of one sync."""
MAX_APPLIED = 10_000
"""Reports about controls of one sync."""
BATCH_BYTES = 4 * 2**20
"""Bytes of events after which a worker begins another sync; a single event may be larger."""
MAX_REQUEST_BYTES = 16 * 2**20
"""Bytes of a request's body that the platform reads."""
MAX_OUTCOMES = 8192
"""Prompts of whose outcomes one event tells."""
MAX_TEXT = 20_000
"""Characters of a prompt or completion that travel with a sampled rollout."""
MAX_TOKEN_TEXT = 200
"""Characters of what one token stands for."""
MAX_ERROR_TEXT = 10_000
"""Characters of an error or a traceback of a bench job's score."""
MAX_TRACE_BYTES = 12 * 2**20
"""Bytes of one trace file."""
MAX_TRACE_SAMPLES = 4096
"""Samples of one trace file."""
MAX_TRACE_TOKENS = 2**25
"""Tokens of one trace file: what its columns may unfold to."""
