"""Resumable uploads of large files in parts: tus 1.0, except for how an upload is created."""
