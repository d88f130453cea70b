import contextlib
from m import Guarded
try:
    with Guarded(contextlib.suppress(KeyError)):
        {}["x"]
    print("suppressed")
except KeyError:
    print("KeyError")
