"""Dataset cards: origin of the rows, licence, purpose and owner."""
