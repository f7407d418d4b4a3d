"""Sessions of browsers: their life, where they are stored, and the browser in words."""
