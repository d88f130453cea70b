from pack import Pack  # noqa: F401
