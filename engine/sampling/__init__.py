"""Logits to tokens. What a request gets depends on its own logits, options, seed and position, never on the rest of the
batch."""
