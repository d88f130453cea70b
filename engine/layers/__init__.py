"""The parts that models are made of. A layer takes sizes and a group, never a configuration; it keeps the share of its
rank."""
