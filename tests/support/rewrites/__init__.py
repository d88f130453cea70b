"""Rewrites that keep behaviour, each with a sibling that is the usual slip of it: what a prover must not complain of,
and what it must."""
