"""Browser tests. As a package, so that its fixtures can last for all of it and no longer."""
