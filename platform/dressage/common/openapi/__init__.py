"""The OpenAPI document, and responses whose shape is declared once."""
