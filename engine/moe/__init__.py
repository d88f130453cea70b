"""Experts of sparse models: how tokens are routed to them, where they stand on the ranks, how their load is watched and
evened out."""
