"""The paraphrases operation: embeddings, clusters, notes and report."""

import numpy as np
import pyarrow as pa

from dressage.lab.arguments import FindParaphrases
from dressage.lab.asking.reporting import asked_report
from dressage.lab.duplicates.clusters import equal_rows
from dressage.lab.duplicates.find import cluster_numbers, clusters_report, kept_rows
from dressage.lab.duplicates.fingerprints import Fingerprints
from dressage.lab.paraphrases.pairs import background, join_alike
from dressage.lab.paraphrases.vectors import row_vectors
from dressage.lab.plan import LabWork, Result
from dressage.lab.reports import ParaphrasesReport
from dressage.lab.texts import read_texts
from dressage.lab.tokens import Tokenizer, digest


def find_paraphrases(work: LabWork, operation: FindParaphrases) -> Result:
    """Find clusters of rows that say the same, in other words or in the same words."""
    found = row_vectors(work, operation)
    texts, prints = _prints(work, operation)
    first = equal_rows(prints.digests)
    roots, similarity = join_alike(
        found.vectors,
        texts,
        first,
        operation.threshold,
        same_numbers=operation.same_numbers,
        told=lambda done, of: work.told("Comparing rows", done, of),
    )
    rows = work.version.rows
    sizes = np.bincount(roots, minlength=rows)
    outside = np.zeros(rows, bool)
    keep, numbers = kept_rows(roots, outside, rows), cluster_numbers(roots, sizes)
    table = pa.table(
        {
            "cluster": pa.array(numbers, pa.int64(), mask=numbers < 0),
            "size": pa.array(sizes[roots], pa.int64()),
            "keep": pa.array(keep, pa.bool_()),
            "error": pa.array([one.error for one in found.outcomes], pa.string()),
        }
    )
    report: ParaphrasesReport = {
        "found": clusters_report([work.version], prints, first, roots, sizes, numbers, keep, outside, similarity),
        "background": round(background(found.vectors, first), 4),
        "asked": asked_report(work, found.outcomes),
    }
    return Result("paraphrases", table, dict(report))


def _prints(work: LabWork, operation: FindParaphrases) -> tuple[list[str], Fingerprints]:
    """The texts of all rows, and their fingerprints for finding equal texts."""
    tokenizer, texts, digests, figures, answers = Tokenizer(), list[str](), [], [], list[int]()
    for part in read_texts(work.version.path, operation.columns):
        tokens = tokenizer.of(part.texts)
        texts += part.texts
        digests.append(tokens.digests)
        figures.append(tokens.figures)
        answers += [digest(one.strip()) if one and one.strip() else 0 for one in part.answers]
    rows, nothing = len(texts), np.zeros(0, np.uint64)
    return texts, Fingerprints(
        digests=np.concatenate([nothing, *digests]),
        figures=np.concatenate([nothing, *figures]),
        answers=np.array(answers, np.uint64),
        shingles=nothing,
        offsets=np.zeros(rows + 1, np.int64),
        bands=np.zeros((rows, 0), np.uint64),
    )
