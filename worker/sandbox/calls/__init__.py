"""Python tests and the program that they call, each in a jail of its own, and the line between the two."""
