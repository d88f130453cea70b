"""Benchmarks: whole processes, measured as ratios against a peer in one run. `tox run -e bench`."""
