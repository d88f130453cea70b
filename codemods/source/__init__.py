"""Read-only facts about Python text, and splice: find by tree, edit the original text.
Never writes, never runs a program."""
