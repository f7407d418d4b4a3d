"""The duplicates operation: fingerprints, clusters, notes and report."""

from typing import Any

import numpy as np
import pyarrow as pa

from dressage.lab.arguments import FindDuplicates
from dressage.lab.duplicates.clusters import equal_rows, join_near
from dressage.lab.duplicates.fingerprints import Fingerprints, fingerprints
from dressage.lab.plan import LabWork, Result, StoredRows
from dressage.lab.reports import DuplicateCluster, DuplicatesReport, ShownRow
from dressage.lab.shown_rows import shown_rows
from dressage.lab.tokens import Places

_SHOWN_CLUSTERS = 20
_SHOWN_ROWS = 4


def find_duplicates(work: LabWork, operation: FindDuplicates) -> Result:
    """Find clusters of the version's rows, including similar rows of other versions."""
    stored = [work.version, *work.against]
    total = sum(one.rows for one in stored)
    prints = fingerprints(
        [one.path for one in stored], work.folder, operation, lambda done: work.told("Reading rows", done, total)
    )
    first = equal_rows(prints.digests)
    similarity: dict[int, float] = {}
    roots = first
    if operation.threshold < 1:
        roots, similarity = join_near(
            prints,
            first,
            operation.threshold,
            same_figures=operation.same_figures,
            told=lambda done, of: work.told("Comparing rows", done, of),
        )
    own = work.version.rows
    sizes = np.bincount(roots, minlength=prints.rows)
    outside = np.zeros(prints.rows, bool)
    outside[np.unique(roots[own:])] = True
    keep = kept_rows(roots, outside, own)
    numbers = cluster_numbers(roots[:own], sizes)
    table = pa.table(
        {
            "cluster": pa.array(numbers, pa.int64(), mask=numbers < 0),
            "size": pa.array(sizes[roots[:own]], pa.int64()),
            "keep": pa.array(keep, pa.bool_()),
        }
    )
    report = clusters_report(stored, prints, first, roots, sizes, numbers, keep, outside, similarity)
    return Result("duplicates", table, dict(report))


def kept_rows(roots: Places, outside: np.ndarray[Any, Any], own: int) -> np.ndarray[Any, Any]:
    """Whether each row of the version is the first of its cluster, and no other version has a row in that cluster."""
    keep = (roots[:own] == np.arange(own)) & ~outside[roots[:own]]
    return np.asarray(keep)


def cluster_numbers(roots: Places, sizes: Places) -> Places:
    """Cluster numbers from 1, in order of their first rows; -1 for a row without a cluster."""
    together = sizes[roots] > 1
    numbers = np.full(len(roots), -1, np.int64)
    numbers[together] = np.unique(roots[together], return_inverse=True)[1] + 1
    return numbers


def clusters_report(
    stored: list[StoredRows],
    prints: Fingerprints,
    first: Places,
    roots: Places,
    sizes: Places,
    numbers: Places,
    keep: np.ndarray[Any, Any],
    outside: np.ndarray[Any, Any],
    similarity: dict[int, float],
) -> DuplicatesReport:
    own = len(keep)
    members = _members(roots, np.unique(roots[:own][numbers > 0]))
    conflicts = {root for root, rows in members.items() if _answers_differ(prints, rows)}
    largest = sorted(members, key=lambda root: (root not in conflicts, -int(sizes[root]), root))[:_SHOWN_CLUSTERS]
    shown = _shown(stored, [row for root in largest for row in members[root][:_SHOWN_ROWS].tolist()])
    equal = np.zeros(own, bool)
    later = first[:own] != np.arange(own)
    equal[later] = True
    if own < prints.rows:
        equal |= np.isin(prints.digests[:own], prints.digests[own:]) & (prints.digests[:own] != 0)
    equal &= ~keep
    clusters: list[DuplicateCluster] = []
    for root in largest:
        rows = members[root]
        least = min((similarity.get(row, 1.0) for row in rows.tolist()), default=1.0) if similarity else 1.0
        clusters.append(
            {
                "cluster": int(numbers[rows[0]]),
                "size": int(sizes[root]),
                "kind": "equal" if len(np.unique(prints.digests[rows])) == 1 else "near",
                "similarity": round(least, 4),
                "answers_differ": root in conflicts,
                "rows": [shown[row] for row in rows[:_SHOWN_ROWS].tolist()],
            }
        )
    return {
        "rows": own,
        "kept": int(keep.sum()),
        "equal_rows": int(equal.sum()),
        "near_rows": int((~keep).sum() - equal.sum()),
        "clusters": len(members),
        "conflicts": len(conflicts),
        "elsewhere": int(outside[roots[:own]].sum()),
        "largest": clusters,
    }


def _members(roots: Places, wanted: Places) -> dict[int, Places]:
    """Rows of each wanted cluster, in order."""
    rows = np.flatnonzero(np.isin(roots, wanted))
    rows = rows[np.argsort(roots[rows], kind="stable")]
    edges = np.flatnonzero(np.diff(roots[rows])) + 1
    return {int(roots[part[0]]): part for part in np.split(rows, edges) if len(part)}


def _answers_differ(prints: Fingerprints, rows: Places) -> bool:
    answers = prints.answers[rows]
    return len(np.unique(answers[answers != 0])) > 1


def _shown(stored: list[StoredRows], rows: list[int]) -> dict[int, ShownRow]:
    """Rows by their index in the concatenation of all versions."""
    found: dict[int, ShownRow] = {}
    start = 0
    for one in stored:
        here = shown_rows(one, [row - start for row in rows if start <= row < start + one.rows])
        found |= {start + number: row for number, row in here.items()}
        start += one.rows
    return found
