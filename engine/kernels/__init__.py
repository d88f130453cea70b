"""The engine's own kernels for CPUs: C++ that is compiled for this machine at first use, and its Python side. Where it
can't be compiled, all that use it have a way of their own in torch."""
