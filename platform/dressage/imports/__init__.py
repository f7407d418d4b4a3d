"""Parts that imports of policies and of datasets share: their life, the hub, files that come in the background."""
