"""Plans: read from TOML and written back, expanded into steps, checked as a whole; what can leave a class.
Writes no file."""
