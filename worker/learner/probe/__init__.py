"""The probe: proves after each weight transfer that an engine computes with what the learner has published.

It asks two questions, because neither answers the other:

- *Which weights do the kernels hold?* Unit vectors are sent through the kernels that multiply with each matrix, to read
  some of its columns (experts are read from their kernel's memory). The columns are compared bit for bit
  (``readback``). This has no noise and needs no tolerance: it detects an update of one part in a million, in any number
  format, however soft or sharp the policy is. It names the tensor.
- *Does the whole model produce the policy's log-probabilities?* Both sides score text that the policy itself finds
  plausible. The differences are judged by the noise that the same weights had at the start (``verdict``). This covers
  what a kernel cannot report: activations, caches, positions, and how the learner turns its weights into what it
  publishes.
"""
