"""Code shared by imports of policies and datasets: their lifecycle, the hub, background downloads."""
