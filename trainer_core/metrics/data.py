"""Metrics of drawn groups and their outcomes, by source and by the previously known difficulty of a prompt.

Groups count in the step in which they came back, including those that dynamic sampling replaces.
"""

from trainer_core.metrics.metric import Metric

UNTRIED = "untried"
"""Band of prompts with no known pass rate."""
BANDS = ("0-20", "20-40", "40-60", "60-80", "80-100")
"""Bands of known pass rates in percent, each without its upper edge, except the last."""

ENTRIES = (
    Metric("data/groups/<source>", "Groups of a source", "groups", "groups of the source that returned", "data"),
    Metric("data/share/<source>", "Share of a source", "share", "groups of the source / groups that returned", "data"),
    Metric("data/pass_rate/<source>", "Pass rate of a source", "share", "successful samples / scored samples", "data"),
    Metric(
        "data/all_right/<source>", "All right, by source", "share", "groups with only right samples / groups", "data"
    ),
    Metric(
        "data/all_wrong/<source>", "All wrong, by source", "share", "groups with only wrong samples / groups", "data"
    ),
    Metric(
        "difficulty/groups/<band>",
        "Groups by difficulty",
        "groups",
        "groups that returned, by the prompt's previously known pass rate in percent",
        "data",
    ),
    Metric(
        "difficulty/share/<band>",
        "Share by difficulty",
        "share",
        "groups of the band / groups that returned",
        "data",
    ),
    Metric(
        "difficulty/pass_rate/<band>",
        "Pass rate by difficulty",
        "share",
        "successful samples / scored samples",
        "data",
    ),
    Metric(
        "difficulty/all_right/<band>",
        "All right, by difficulty",
        "share",
        "groups with only right samples / groups",
        "data",
    ),
    Metric(
        "difficulty/all_wrong/<band>",
        "All wrong, by difficulty",
        "share",
        "groups with only wrong samples / groups",
        "data",
    ),
    Metric("curriculum/stage", "Stage", "number", "data stage of the step's draws, from 1", "data"),
)
