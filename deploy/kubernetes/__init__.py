"""Manifests for Kubernetes, generated from typed values: ``python -m deploy.kubernetes values.yaml``."""
