from os.path import join

from dst import half  # noqa: F401
