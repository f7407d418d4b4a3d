"""REST views of what people watch."""
