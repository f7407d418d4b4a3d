"""Engines of several devices: vLLM's scheduler stays in this process, and each device has a process of its own.

InferenceEngine ── step ──► vLLM's EngineCore ── MultiprocExecutor ──► EngineWorker, rank 0 … n-1
      └── weights ──► DistributedWeightStore ── files in shared memory, rpc ──► its WeightStore
"""
