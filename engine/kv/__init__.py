"""Whose keys and values lie in which block. Plain bookkeeping; the tensors are the runner's."""
