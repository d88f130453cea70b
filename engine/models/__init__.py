"""Decoders of the families that the engine serves, and how a checkpoint's tensors become their weights."""
