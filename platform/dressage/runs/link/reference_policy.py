"""The folder of the reference policy that a run's KL penalty measures distance from."""

from pathlib import Path

from dressage.common.api.problems import conflict
from dressage.runs.models import Run
from dressage.runs.needs.references import References
from trainer_core.link.bundle import PolicyRef
from trainer_core.spec import RunSpec
from trainer_core.spec.objective import Preference


def has_own_weights(run: Run) -> bool:
    """Whether the run starts from weights in its own folder: a fork, but not a run that continues another one."""
    return bool(run.origin_manifest_sha256) and not run.continues


def policy_folder(run: Run, base: Path) -> Path:
    """The folder that the learner loads as its policy: a fork's copy of a checkpoint, otherwise the base policy."""
    return run.origin_path if has_own_weights(run) else base


def reference(run: Run, spec: RunSpec, found: References) -> PolicyRef | None:
    """The reference policy; None if it is the policy that the learner loads, or nothing is compared with it.

    A preference loss compares with the weights that the run started from.

    Raises:
        Problem: 409 if the weights that a run started from no longer exist.
    """
    assert found.policy is not None
    base = Path(found.policy.path)
    if spec.examples is not None:
        if not (isinstance(spec.examples, Preference) and spec.examples.has_reference):
            return None
        chosen, folder = found.policy.slug, _start(run, base)
    elif spec.kl.coefficient == 0.0:
        return None
    elif found.reference is not None:
        chosen, folder = found.reference.slug, Path(found.reference.path)
    else:
        chosen, folder = found.policy.slug, base if spec.kl.reference == "base" else _start(run, base)
    return None if folder == policy_folder(run, base) else PolicyRef(name=chosen, path=folder)


def _start(run: Run, base: Path) -> Path:
    """The folder of the weights that a run started from. A run that continues another one started where that did."""
    while run.continues:
        if run.parent is None:
            detail = (
                "The run that this one continues is gone, and with it the reference: the weights that it started from."
            )
            raise conflict(f"{detail} Fork a checkpoint of this run instead.", code="start_gone")
        run = run.parent
    return policy_folder(run, base)
