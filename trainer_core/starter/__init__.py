"""The starter policy: a small Qwen3 model with a character tokenizer and a short supervised warm-up, built on demand.

The warm-up leaves a policy that *can* think but mostly does not; reinforcement learning then discovers that thinking
pays off. ``python -m trainer_core.starter --out DIR`` builds it; ``--hybrid`` uses MiniMax-M1's architecture.
"""
