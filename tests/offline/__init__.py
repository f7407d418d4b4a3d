"""The proof of a bundle: ``python -m tests.offline dist/dressage-….tar`` (root, or user namespaces).

The archive is unpacked into a folder of its own, and ``make demo`` runs in a network namespace that has its loopback
alone. Somebody signs in there, and sees the demo's run learn. It takes minutes and starts everything, so ``make test``
leaves it out; what the archive holds is tested in ``tests/scripts``.
"""
