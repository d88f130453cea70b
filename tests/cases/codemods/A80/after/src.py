from dst import Cfg  # noqa: F401
