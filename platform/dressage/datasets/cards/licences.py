"""Licences and their short identifiers in the SPDX License List (https://spdx.org/licenses)."""

import re
from collections.abc import Iterable

IDENTIFIERS = (
    "AFL-3.0", "AGPL-3.0-only", "AGPL-3.0-or-later", "Apache-2.0", "Artistic-2.0", "BSD-2-Clause", "BSD-3-Clause",
    "BSL-1.0", "C-UDA-1.0", "CC-BY-2.0", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-NC-3.0", "CC-BY-NC-4.0", "CC-BY-NC-ND-4.0",
    "CC-BY-NC-SA-3.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-PDDC", "CC0-1.0",
    "CDLA-Permissive-1.0", "CDLA-Permissive-2.0", "CDLA-Sharing-1.0", "ECL-2.0", "EPL-2.0", "EUPL-1.2",
    "GFDL-1.3-only", "GPL-2.0-only", "GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later", "ISC",
    "LGPL-2.1-only", "LGPL-2.1-or-later", "LGPL-3.0-only", "LGPL-3.0-or-later", "MIT", "MIT-0", "MPL-2.0", "MS-PL",
    "NCSA", "ODbL-1.0", "ODC-By-1.0", "OFL-1.1", "OSL-3.0", "PDDL-1.0", "PostgreSQL", "Unlicense", "WTFPL", "Zlib",
)  # fmt: skip
"""Licences commonly used for data sets, code and texts."""
MAX_LICENCE = 120
_KNOWN = {name.lower(): name for name in IDENTIFIERS}


def tidy(licence: str) -> str:
    """Normalise a licence: known identifiers get their canonical spelling, other text is joined to one line."""
    text = " ".join(licence.split())
    return _KNOWN.get(text.lower().replace(" ", "-"), text)


def is_expression(licence: str) -> bool:
    """Whether the licence is a known identifier, or several joined by AND or OR."""
    plain = re.sub(r"\(([^()]+)\)", r"\1", licence)
    return all(part in _KNOWN.values() for part in re.split(r" (?:AND|OR) ", plain))


def together(licences: Iterable[str]) -> str:
    """The combined licence of rows under several licences, all of which apply. Empty if any of them is unknown."""
    found = list(dict.fromkeys(licences))
    if not found or not all(found):
        return ""
    if all(is_expression(one) for one in found):
        parts = [part if " OR " not in part else f"({part})" for part in found]
        text = " AND ".join(dict.fromkeys(part for one in parts for part in one.split(" AND ")))
    else:
        text = "; ".join(found)
    return text if len(text) <= MAX_LICENCE else ""
