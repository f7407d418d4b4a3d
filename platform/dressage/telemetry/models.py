"""Events, metric points and sampled rollouts. Narrow rows, appended and never changed."""

from django.db import models
from django.db.models import Value
from django.db.models.functions import Coalesce

BOTTOM = -1.7e308
"""Sorts rollouts without a reward below all others."""


class Event(models.Model):
    """One event of a run; ``seq`` numbers them without gaps, and the live stream resumes by it."""

    pk = models.CompositePrimaryKey("run_id", "seq")
    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, related_name="events", db_index=False)
    seq = models.PositiveBigIntegerField()
    attempt = models.PositiveIntegerField()
    kind = models.CharField(max_length=20)
    step = models.PositiveIntegerField(null=True)
    at = models.DateTimeField()
    data = models.JSONField()

    class Meta:
        indexes = [models.Index(fields=["run", "kind", "seq"], name="event_run_kind")]


class Series(models.Model):
    """One metric of one run; points refer to it by number only."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, related_name="series", db_index=False)
    name = models.CharField(max_length=160)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="one_series_per_name")]


class Point(models.Model):
    """The value of a metric at a step, as reported by one attempt."""

    pk = models.CompositePrimaryKey("series_id", "step", "attempt")
    # Only the ingest writes points, in the transaction that created the series: a check per row would halve its speed.
    series = models.ForeignKey(Series, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    step = models.IntegerField()
    attempt = models.SmallIntegerField()
    value = models.FloatField()


class Rollup(models.Model):
    """Aggregate of the points of one series and attempt in a bucket of steps; see ``rollups``."""

    pk = models.CompositePrimaryKey("series_id", "bucket", "attempt")
    series = models.ForeignKey(Series, on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    bucket = models.IntegerField()
    attempt = models.SmallIntegerField()
    last = models.IntegerField()
    """Step of its last point."""
    low = models.FloatField(null=True)
    """The smallest finite value; null, like ``high`` and ``total``, if there is none."""
    high = models.FloatField(null=True)
    total = models.FloatField(null=True)
    """Sum of the finite values, on ``SCALE``."""
    finite = models.SmallIntegerField()
    points = models.SmallIntegerField()


class RolledUp(models.Model):
    """Progress of an attempt's rollups."""

    pk = models.CompositePrimaryKey("run_id", "attempt")
    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, db_constraint=False, db_index=False, related_name="+")
    attempt = models.SmallIntegerField()
    until = models.IntegerField()
    """The first step that is not rolled up."""


class Moment(models.Model):
    """Time at which a step was completed, and tokens trained on by then: the other x axes of the charts."""

    pk = models.CompositePrimaryKey("run_id", "step", "attempt")
    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, related_name="+", db_index=False)
    step = models.IntegerField()
    attempt = models.SmallIntegerField()
    at = models.DateTimeField()
    seconds = models.FloatField()
    """Duration of the step; 0 for the evaluation before the first step."""
    tokens_total = models.BigIntegerField()


class TraceFile(models.Model):
    """A file with samples of one step and their tokens; ``Rollout`` indexes its content."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, related_name="trace_files", db_index=False)
    attempt = models.SmallIntegerField()
    step = models.IntegerField()
    number = models.SmallIntegerField()
    """Position among the files of its step."""
    stays = models.BooleanField()
    """Whether its groups are kept when the step is no longer among the newest."""
    sha256 = models.CharField(max_length=64)
    bytes = models.BigIntegerField()
    samples = models.IntegerField()
    tokens = models.BigIntegerField()
    groups = models.IntegerField()
    """Groups that its step had, kept or not."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "step", "attempt", "number"], name="one_trace_file_per_number")
        ]


class Rollout(models.Model):
    """One sampled completion with its reward."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, related_name="rollouts", db_index=False)
    attempt = models.SmallIntegerField()
    step = models.IntegerField()
    group_id = models.CharField(max_length=80)
    sample = models.IntegerField()
    prompt_id = models.CharField(max_length=120)
    source = models.CharField(max_length=63)
    prompt = models.TextField()
    completion = models.TextField()
    answer = models.JSONField(null=True)
    reward = models.FloatField(null=True)
    reward_parts = models.JSONField()
    explanation = models.JSONField(null=True)
    """``{component: {weight, reason}}``; null in rows from before graders' reasons were stored."""
    reward_error = models.TextField(null=True)
    advantage = models.FloatField(null=True)
    excluded = models.CharField(max_length=120, null=True)
    finish_reason = models.CharField(max_length=20)
    length = models.IntegerField()
    thinking_tokens = models.IntegerField()
    budget_hit = models.BooleanField()
    control_revision = models.IntegerField()
    policy_version_min = models.IntegerField(null=True)
    policy_version_max = models.IntegerField(null=True)
    reward_version = models.CharField(max_length=80, null=True)
    """``slug@n`` of the definition that scored it; null in rows from before versions were stored."""
    shadow = models.JSONField(default=dict)
    """Rewards by other versions, which were not used in training: ``{slug@n: reward | null}``."""
    right = models.BooleanField(null=True)
    """Whether it succeeds by its reward version's threshold; null if unknown."""
    worst_gap = models.FloatField(null=True)
    """Largest difference of log-probabilities between learner and engine; null if unknown."""
    turns = models.JSONField(null=True)
    """``[{author, characters}]`` of the turns of its completion; null if the policy had one turn."""
    trace = models.ForeignKey(TraceFile, on_delete=models.SET_NULL, null=True, related_name="rollouts", db_index=False)
    """The file that holds its tokens."""
    trace_row = models.IntegerField(null=True)
    """Its row there, from 0."""
    indexed = models.BooleanField(default=False, db_default=False)
    """Whether its full texts are in that file, and only the beginning of each is here."""

    class Meta:
        indexes = [
            models.Index(fields=["trace"], name="rollout_by_trace", condition=models.Q(trace__isnull=False)),
            models.Index(fields=["run", "-step", "group_id", "sample", "id"], name="rollout_by_step"),
            models.Index("run", Coalesce("reward", Value(BOTTOM)), "id", name="rollout_by_reward"),
            models.Index(fields=["run", "length", "id"], name="rollout_by_length"),
            models.Index(fields=["run", "prompt_id"], name="rollout_by_prompt"),
        ]


class RowOutcome(models.Model):
    """Outcome of the completions of one prompt in one step."""

    id = models.BigAutoField(primary_key=True)
    run = models.ForeignKey("runs.Run", on_delete=models.CASCADE, related_name="outcomes", db_index=False)
    attempt = models.SmallIntegerField()
    step = models.IntegerField()
    source = models.CharField(max_length=120)
    row = models.IntegerField()
    """Position of the prompt in the source's version, from 0."""
    right = models.IntegerField()
    """Successful samples."""
    graded = models.IntegerField()
    """Samples whose reward could be computed."""
    reward = models.FloatField(null=True)
    """Their mean reward."""
    ordinal = models.IntegerField(null=True)
    """Number of the prompt among all that the run's curriculum handed out; null, like ``fate``, in rows from before."""
    fate = models.CharField(max_length=10, null=True)
    """Whether the group was trained on: ``trainer_core.steering.fates.FateKind``."""
    reason = models.CharField(max_length=120, null=True)
    """The filter that rejected it, or why it was dropped."""

    class Meta:
        indexes = [
            models.Index(fields=["run", "source", "row", "step"], name="outcome_by_row"),
            models.Index(fields=["run", "-step", "row"], name="outcome_by_step"),
            models.Index(fields=["run", "-step", "row", "id"], name="outcome_by_page"),
            models.Index(
                fields=["run", "fate", "-step", "row", "id"],
                name="outcome_left_out",
                condition=models.Q(fate__in=["rejected", "dropped"]),
            ),
        ]
