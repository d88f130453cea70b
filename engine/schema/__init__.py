"""The data that travels between the engine's floors, and its errors. Decides nothing."""
