"""Graders in processes of their own, which can be ended at any moment.

A grader is honest code that reads hostile text: a schema, a pattern or an answer can make it compute without end, and
Python cannot stop a thread inside a C function. So whoever grades for others (the web tier, the reward workers) hands
the grader to a child process. The kernel ends the child when the grader has used its processor time, which does not
depend on what else the machine is doing; ends a hog of memory; and the caller goes on.

``template`` is a process that has loaded the graders and forks a child in milliseconds, ``child`` grades, ``process``
is the child as its owner sees it, ``places`` shares several children among callers fairly.
"""
