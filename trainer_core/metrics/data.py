"""Metrics of drawn groups and their outcomes, by source and by the previously known difficulty of a prompt.

Groups count in the step in which they came back, including those that dynamic sampling replaces.
"""

from trainer_core.metrics.metric import Metric

UNTRIED = "untried"
"""Band of prompts with no known pass rate."""
BANDS = ("0-20", "20-40", "40-60", "60-80", "80-100")
"""Bands of known pass rates in percent, each without its upper edge, except the last."""

ENTRIES = (
    Metric("data/groups/<source>", "Groups of a source", "groups", "groups of the source that came back", "data"),
    Metric("data/share/<source>", "Share of a source", "share", "groups of the source / groups that came back", "data"),
    Metric("data/pass_rate/<source>", "Pass rate of a source", "share", "successful samples / scored samples", "data"),
    Metric(
        "data/all_right/<source>", "All right, by source", "share", "groups of right samples alone / groups", "data"
    ),
    Metric(
        "data/all_wrong/<source>", "All wrong, by source", "share", "groups of wrong samples alone / groups", "data"
    ),
    Metric(
        "difficulty/groups/<band>",
        "Groups of a difficulty",
        "groups",
        "groups that came back, by the pass rate in percent that was known of the prompt before",
        "data",
    ),
    Metric(
        "difficulty/share/<band>",
        "Share of a difficulty",
        "share",
        "groups of the band / groups that came back",
        "data",
    ),
    Metric(
        "difficulty/pass_rate/<band>",
        "Pass rate of a difficulty",
        "share",
        "successful samples / scored samples",
        "data",
    ),
    Metric(
        "difficulty/all_right/<band>",
        "All right, by difficulty",
        "share",
        "groups of right samples alone / groups",
        "data",
    ),
    Metric(
        "difficulty/all_wrong/<band>",
        "All wrong, by difficulty",
        "share",
        "groups of wrong samples alone / groups",
        "data",
    ),
    Metric("curriculum/stage", "Stage", "number", "stage of the data, from 1, that the step was drawn in", "data"),
)
