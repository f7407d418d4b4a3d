"""The lab: operations on the rows of a version that write row notes or create new versions."""
