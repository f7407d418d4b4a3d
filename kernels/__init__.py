"""Kernels of Dressage: one folder per operation, with a torch reference, a Triton path and a benchmark.

``__version__`` is set because Hugging Face ships a package of this name and transformers asks for its version: given
"0.0.0", it concludes that its own package is absent instead of failing.
"""

__version__ = "0.0.0"
