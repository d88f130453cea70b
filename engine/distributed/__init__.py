"""Ranks and how they find each other: addresses, ports, backends. Groups and collectives follow with the runner."""
