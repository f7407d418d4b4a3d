"""Uploads of large files in parts, which go on after a lost network: tus 1.0 but for its way of creating one."""
