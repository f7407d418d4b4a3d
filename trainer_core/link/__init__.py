"""The contract between the platform and its workers: every message that travels between them, declared once.

Both sides import these models. The platform reads what workers send and writes what they fetch; the worker does the
reverse. HTTP carries them as JSON, and each side names the version of this contract that it speaks in a header
(``version``).

Within one version both sides may change, as long as the other understands the messages as it did before:

- A key that the reader does not know is left out, so a newer peer may say more. Two documents are an exception, since a
  key that is not obeyed would train something else: the run's spec and reward definitions refuse unknown keys.
- A new key has a default, and a reader that meets an older peer goes by it. Defaults never change.
- An event of an unknown kind is written down in the run's log by its name and is acknowledged; a command of an unknown
  type is logged by the worker and left alone. Neither stops a run.
- Bounds may widen and never narrow: a journal may hold events for an hour, over an upgrade of the platform.

Messages of the Celery queue (``celery_queue``) are outside this promise: they name no version. A worker reads those of
its own release and of the ones before, and need not read those of a newer platform; it is upgraded first, or with it.

Anything else raises ``version.LINK_VERSION``. Whatever the version, these stay as they are, so that a refusal can be
told: the envelopes of a sync and its answer, the event ``state``, error answers, and ``{"error": …}`` of a bench job.
"""
