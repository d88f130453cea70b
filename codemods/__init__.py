"""Mechanical extraction of methods out of god classes, checked as it goes. Needs no torch; never imports `engine`."""
