"""Installations beyond one machine: images, manifests for Kubernetes, and a compose file."""
