"""Facts from the files of a registered policy, read only once."""

from pathlib import Path
from typing import Any, cast

from dressage.policies.facts import FORMAT, ContentsDocument, read_contents
from dressage.policies.folders import ClosedFolder, require_still_open
from dressage.policies.inspection import UnfitFolder, numbers_in
from dressage.policies.models import Policy


def policy_contents(policy: Policy) -> tuple[ContentsDocument | None, str]:
    """Facts from the policy's files, or None and the reason.

    For policies from earlier releases, reads and stores them.
    """
    stored: Any = policy.facts
    if stored and stored.get("format") == FORMAT:
        return cast(ContentsDocument, stored), ""
    try:
        require_still_open(policy)
        contents = read_contents(Path(policy.path), numbers_in(Path(policy.path)))
    except (ClosedFolder, UnfitFolder) as error:
        return None, f"The policy's files cannot be read: {error}"
    Policy.objects.filter(pk=policy.pk).update(facts=contents)
    return contents, ""
