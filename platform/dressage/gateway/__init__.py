"""Layer between the ASGI server and Django: checks that refuse before anything is read, and the handler of requests."""
