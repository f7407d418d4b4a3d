"""Mappings of uploaded files: previews of their result, and a team's saved mappings."""
