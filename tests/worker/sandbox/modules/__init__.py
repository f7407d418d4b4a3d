"""Modules of tests in the styles of public repositories, each with a right program and a wrong one."""
