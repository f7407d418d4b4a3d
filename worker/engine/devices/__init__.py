"""Engines on several devices: vLLM's scheduler stays in this process, and each device has its own process.

InferenceEngine ── step ──► vLLM's EngineCore ── MultiprocExecutor ──► EngineWorker, rank 0 … n-1
      └── weights ──► DistributedWeightStore ── files in shared memory, rpc ──► its WeightStore
"""
