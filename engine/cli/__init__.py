"""The command line of the engine: one file a command. Parses, calls one function, prints. Nothing else prints."""
