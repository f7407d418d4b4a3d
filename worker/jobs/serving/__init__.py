"""Serves models to whoever asks behind the platform, as long as it is asked."""
