"""The jail: untrusted programs run in their own namespaces under seccomp, Landlock and limits; see docs/sandbox.md.

``capability`` checks whether this machine has a strong jail; ``pool`` is what the workers use. ``zygote``, ``guest``,
``roles`` and what they import run inside and use only the standard library.
"""
