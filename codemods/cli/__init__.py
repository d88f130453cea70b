"""The command line: one file a command. Parses arguments, calls one function, prints. Nothing else prints."""
