"""Slugs from names."""

from django.utils.text import slugify

from dressage.common.api.problems import invalid


def slug_for(name: str, slug: str | None) -> str:
    """The given slug, else one derived from the name. Raises a 422 problem if the name has no usable letter."""
    made = slug or slugify(name)[:63].strip("-_")
    if not made:
        raise invalid("/slug", "This name gives no slug: add a Latin letter or a digit, or set a slug.")
    return made
