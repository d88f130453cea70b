"""Who computes what in the next step. Plain decisions over ordered state: no tensors, no clock, no input or output."""
