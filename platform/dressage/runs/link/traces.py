"""Trace files from workers. Each is stored once, as a whole, and only while its attempt is the run's current one."""

import hashlib
from collections.abc import Mapping
from typing import IO, Any

from django.db import transaction
from rest_framework.parsers import BaseParser

from dressage.common.api.problems import Problem, conflict, invalid
from dressage.runs.facts.selectors import line_of
from dressage.runs.link.auth import require_current
from dressage.runs.models import Attempt, Run
from dressage.runs.needs.reward_versions import reward_of
from dressage.telemetry.events import append_event
from dressage.telemetry.models import TraceFile
from dressage.telemetry.traces import store
from dressage.telemetry.traces.pruning import prune
from dressage.telemetry.traces.storage import write
from dressage.telemetry.traces.upload import Upload, read_upload
from trainer_core.link.limits import MAX_TRACE_BYTES
from trainer_core.link.traces import MEDIA_TYPE
from trainer_core.spec.operation.traces import Traces


class TraceParser(BaseParser):
    """The raw body of an upload."""

    media_type = MEDIA_TYPE

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        body = stream.read(MAX_TRACE_BYTES + 1)
        if len(body) > MAX_TRACE_BYTES:
            raise Problem(413, "Request too large", f"A trace file may have at most {MAX_TRACE_BYTES} bytes.")
        return body


def take_trace(attempt: Attempt, step: int, number: int, data: bytes) -> bool:
    """Store a trace file and prune by the run's rule. False: it was already stored.

    Raises:
        Problem: 409 for an attempt that is not the run's current one, and for bytes that differ from the stored ones;
            422 for an unreadable file, or one of a different step than the URL states. Nothing is changed then.
    """
    require_current(attempt, attempt.run)  # first, to avoid reading the file in vain
    upload = _read(attempt, step, number, data)
    digest = hashlib.sha256(data).hexdigest()
    with transaction.atomic():
        run = Run.objects.select_for_update(of=("self",)).get(pk=attempt.run_id)
        attempt = Attempt.objects.get(pk=attempt.pk)
        require_current(attempt, run)
        before = TraceFile.objects.filter(run=run, attempt=attempt.number, step=step, number=number).first()
        if before is not None:
            if before.sha256 != digest:
                raise conflict(f"Step {step} already has a different trace file {number}.", code="other_trace")
            return False
        scored_by = reward_of(run.effective_spec)
        file = store.add(run.id, upload, sha256=digest, size=len(data), scored_by=scored_by)
        write(file, data)
        prune(run.id, Traces.model_validate(run.effective_spec.get("traces", {})), line_of(run))
        facts = {"groups": upload.header.groups, "samples": file.samples, "tokens": file.tokens, "bytes": file.bytes}
        append_event(run, "traces", facts, step=step, attempt=attempt.number)
    return True


def _read(attempt: Attempt, step: int, number: int, data: bytes) -> Upload:
    upload = read_upload(data)
    header = upload.header
    named = (header.run_id, header.attempt, header.step, header.number)
    if named != (attempt.run_id, attempt.number, step, number):
        raise invalid("", "The trace file's run, attempt, step or number differs from its address.")
    return upload
