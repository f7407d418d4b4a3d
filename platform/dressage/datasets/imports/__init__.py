"""Dataset imports from the hub, URLs and folders. They run in the background and can be resumed."""
