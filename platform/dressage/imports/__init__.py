"""What imports of policies and of datasets have in common: their life, the hub, files that come in the background."""
