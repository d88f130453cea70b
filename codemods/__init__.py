"""Mechanical extraction of methods out of god classes, checked as it goes. Needs no torch; never imports `engine`."""

# Here too, because finding out what is installed takes longer than checking a small commit.
__version__ = "0.1.0"
