"""The OpenAPI document, and answers whose shape is declared once."""
