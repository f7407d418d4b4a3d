"""``manage.py up``: starts every process of an installation, restarts what dies, stops all of them together."""
