"""git and directories as data: trees, blobs, states of a repository. The only floor that starts processes."""
