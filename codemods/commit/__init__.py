"""What a plan came to, as commits, as edits of the tree or as a diff; whole or not at all. Reads no code."""
