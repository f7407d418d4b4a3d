"""The starter policy: a small Qwen3 model with a character tokenizer and a short supervised warm-up, made on the spot.

The warm-up leaves a policy that *can* think but mostly does not; reinforcement learning then discovers that thinking
pays. ``python -m trainer_core.starter --out DIR`` makes it, with ``--hybrid`` one in MiniMax-M1's architecture.
"""
