"""Manifests for Kubernetes, made from typed values: ``python -m deploy.kubernetes values.yaml``."""
