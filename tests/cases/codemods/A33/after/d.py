from dst import f  # noqa: F401
