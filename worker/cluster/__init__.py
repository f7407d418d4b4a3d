"""The Ray cluster: actors and where they compute, and the Celery application that starts them."""
