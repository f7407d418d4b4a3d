"""Layer between the ASGI server and Django: checks that refuse before the body is read, and the request handler."""
