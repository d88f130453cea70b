from dst import f, g  # noqa: F401
