"""The probe: proof, after each transfer of weights, that an engine computes with what the learner has published.

Two questions are asked, because neither answers the other:

- *Which weights do the kernels hold?* Columns of every matrix are asked of the very kernels that multiply with it, by
  unit vectors (experts are read from their kernel's memory), and compared bit for bit (``readback``). There is no
  noise in it and so no tolerance: an update of one part in a million is seen, in any number format, however soft or
  sharp the policy is. It names the tensor.
- *Does it all make the policy's log-probabilities?* Both sides score text that the policy itself finds plausible, and
  what differs is judged by the noise that the same weights had at the start (``verdict``). That sees what a kernel
  cannot be asked: activations, caches, positions, the learner's own way from its weights to what it publishes.
"""
