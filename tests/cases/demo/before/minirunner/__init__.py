"""A toy inference engine: one ModelRunner per rank, on a simulated device."""

__version__ = "0.3.0"
