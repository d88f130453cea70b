from app.dst import X  # noqa: F401
