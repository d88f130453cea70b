"""Queries against the keys and values of a batch's sequences, through their blocks. Which backend a run takes is the
runner's."""
