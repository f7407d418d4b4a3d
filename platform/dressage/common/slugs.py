"""Slugs from names."""

from django.utils.text import slugify

from dressage.common.api.problems import invalid


def slug_for(name: str, slug: str | None) -> str:
    """The given slug, else one derived from the name. Raises a 422 problem if the name has no usable letter."""
    made = slug or slugify(name)[:63].strip("-_")
    if not made:
        raise invalid("/slug", "No slug can be made from this name: give it a Latin letter or a digit, or name a slug.")
    return made
