"""Changes to marks: people's opinions of rows that a judge has scored."""

from collections.abc import Sequence

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.problems import invalid
from dressage.lab.models import LabJob, QualityMark
from dressage.lab.quality.documents import AskedMark
from dressage.lab.quality.selectors import rows_to_mark
from dressage.teams.services import record_audit


@transaction.atomic
def mark(job: LabJob, actor: Actor, asked: Sequence[AskedMark]) -> None:
    """Store the caller's marks of rows. Each replaces their earlier mark of the same row.

    Raises:
        Problem: 409 if the job has no rows to mark; 422 for a row that was not drawn or occurs twice. Nothing changes
            then.
    """
    locked = LabJob.objects.select_for_update(of=("self",)).select_related("version__dataset").get(pk=job.pk)
    known = {one.number for one in rows_to_mark(locked)}
    seen: set[int] = set()
    for index, one in enumerate(asked):
        pointer = f"/marks/{index}/row"
        if one["row"] not in known:
            raise invalid(pointer, f"The row {one['row']} is not among the rows drawn for marking.")
        if one["row"] in seen:
            raise invalid(pointer, f"The row {one['row']} is listed twice.")
        seen.add(one["row"])
    QualityMark.objects.filter(job=locked, reviewer=actor.id, row__in=seen).delete()
    QualityMark.objects.bulk_create(
        QualityMark(
            team_id=locked.team_id,
            job=locked,
            row=one["row"],
            good=one["word"] == "good",
            reviewer=actor.id,
            created_by=actor.label,
        )
        for one in asked
        if one["word"] is not None
    )
    after = {"ref": locked.version.ref, "marks": [dict(one) for one in asked[:20]], "number_of_marks": len(asked)}
    record_audit(locked.team, actor, "lab.mark", "lab_job", locked.id, after=after)
