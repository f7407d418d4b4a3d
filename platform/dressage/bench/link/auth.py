"""The authentication of a bench job's worker."""

from dressage.bench.tokens import PREFIX
from dressage.rewards.models import BenchJob
from dressage.runs.link.job_auth import JobAuthentication


class BenchLinkAuthentication(JobAuthentication):
    """``Authorization: Bearer bnc_…``; ``request.auth`` is the job."""

    model = BenchJob
    prefix = PREFIX
