"""Versions derived from a profile: the rows within a band of pass rates, or those whose gold is trusted."""

from dressage.common.actors import Actor
from dressage.common.api.problems import conflict, invalid
from dressage.datasets.derivation.operations import KeepRows
from dressage.datasets.derivation.services import Derived, Into, derive
from dressage.datasets.versions import notes, storage
from dressage.profiles.models import Profile, ProfileState
from dressage.profiles.review import confirmed


def derive_from_profile(
    profile: Profile,
    actor: Actor,
    *,
    min_pass_rate: float | None,
    max_pass_rate: float | None,
    without_suspects: bool,
    into: Into | None,
    latest: int | None,
    dry_run: bool,
) -> Derived:
    """Create a version of the rows that meet all conditions. Rows without a pass rate are in no band.

    Args:
        profile: done; its notes must still be those of the version.
        actor: who requests it.
        min_pass_rate: lower edge of the band, included; None for none.
        max_pass_rate: upper edge.
        without_suspects: whether to leave out rows with a suspect gold, except those whose gold a person has confirmed.
        into: a new dataset for the result; None creates the next version of the dataset.
        latest: number of the newest version that the caller has seen.
        dry_run: whether only to count.

    Raises:
        Problem: 409 if the profile is not done, its notes were replaced, or there is a newer version; 422 if there is
            no condition, or no row would be left.
    """
    banded = min_pass_rate is not None or max_pass_rate is not None
    if not banded and not without_suspects:
        raise invalid("/min_pass_rate", "Give a band, or exclude suspects: otherwise every row is kept.")
    if profile.state != ProfileState.DONE:
        raise conflict(f"The profile is {profile.state}: wait until it is done.", code="profile_not_done")
    low = 0.0 if min_pass_rate is None else min_pass_rate
    high = 1.0 if max_pass_rate is None else max_pass_rate
    if low > high:
        raise invalid("/max_pass_rate", "The upper edge is below the lower one.")
    rates = _column(profile, "difficulty", "pass_rate") if banded else None
    suspect = _column(profile, "suspect", "suspect") if without_suspects else None
    trusted = confirmed(profile.version) if without_suspects else frozenset()
    version, kept, number = profile.version, set(), 0
    for table in storage.tables(version.path):
        for row_id in table.column("id").to_pylist():
            rate = None if rates is None else rates[number]
            inside = rates is None or (rate is not None and low <= rate <= high)
            if inside and not (suspect is not None and suspect[number] and number not in trusted):
                kept.add(row_id)
            number += 1
    arguments = {
        "profile": profile.id,
        "policy": profile.spec["policy"]["base"],
        "min_pass_rate": min_pass_rate,
        "max_pass_rate": max_pass_rate,
        "without_suspects": without_suspects,
    }
    operation = KeepRows(name="filter", ids=frozenset(kept), arguments=arguments)
    return derive(version.dataset.team, version, actor, operation, into=into, latest=latest, dry_run=dry_run)


def _column(profile: Profile, name: str, column: str) -> list[float | bool | None]:
    found = next((one for one in notes.of(profile.version) if one.name == name), None)
    if found is None or found.source["id"] != profile.id:
        detail = (
            f"The notes “{name}” of {profile.version.ref} no longer belong to this profile: use the newest profile."
        )
        raise conflict(detail, code="notes_replaced")
    values: list[float | bool | None] = notes.read(profile.version, name, [column]).column(column).to_pylist()
    return values
