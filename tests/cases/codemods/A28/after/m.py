from os import (
    sep,  # keep: used below
)

from dst import ends  # noqa: F401


print(len(sep))
