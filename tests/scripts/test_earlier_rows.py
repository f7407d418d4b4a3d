"""A page that is written anew keeps the rows that are not measured anew, with the day of their measurement."""

from pathlib import Path

from tests.bench.earlier import merged, rows

HEADER = "| recipe | right |"
PAGE = f"""# Page

{HEADER}
|---|---:|
| grpo (2026-11-22) | 0.80 |
| rloo | 0.70 |
| gone (2026-11-20) | 0.10 |

{HEADER}
|---|---:|
| grpo (2026-11-01) | 0.20 |
"""


def test_rows_that_are_not_measured_anew_are_kept_with_their_date(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    kept = merged(page, HEADER, {"dapo": "| dapo | 0.90 |"}, ["dapo", "grpo", "rloo", "siri"])
    assert kept[:2] == ["| dapo | 0.90 |", "| grpo (2026-11-22) | 0.80 |"]
    assert kept[2:] == ["| rloo (1970-01-01) | 0.70 |"]  # of a page that no repository has


def test_what_is_measured_anew_takes_the_place_of_the_earlier_row(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert merged(page, HEADER, {"grpo": "| grpo | 0.85 |"}, ["grpo"]) == ["| grpo | 0.85 |"]


def test_a_page_may_have_two_tables_alike_or_none(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert rows(page, HEADER) == {}
    page.write_text(PAGE)
    assert rows(page, HEADER, 1) == {"grpo": "| grpo (2026-11-01) | 0.20 |"}
    assert rows(page, HEADER, 2) == {} == rows(page, "| other |")
