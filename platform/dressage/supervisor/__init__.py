"""``manage.py up``: starts every process of an installation, restarts those that die, stops all of them together."""
