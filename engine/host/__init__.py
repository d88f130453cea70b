"""The machine: its CPUs, nodes and memory. Reads it and may bind this process; decides nothing about models."""
