"""The bench's second task: skills that have to grow, noisy labels, a cap on length, and a reward that can be hacked.

``families`` holds the calculations, ``demonstrations`` what the warm-up shows of them, ``rows`` the datasets with their
noisy labels, ``policy`` makes the warmed-up policy (``python -m tests.bench.skills.policy --out DIR``).
"""
