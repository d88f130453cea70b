"""Drafts: tokens guessed ahead, and how many of them are what would have been chosen anyway. Never changes a result."""
