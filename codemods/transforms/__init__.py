"""One catalog refactoring a file, and what runs them. Reads through source/; writes nothing."""
