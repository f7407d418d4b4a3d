"""The lab: operations on the rows of a version that leave notes on them, or make versions."""
