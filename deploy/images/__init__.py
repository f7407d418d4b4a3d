"""Images of the installation: one definition, one install script, and one lock of digests."""
