from types import SimpleNamespace

from m import block

conf = SimpleNamespace(block=16)
print(block(0, conf), block(None, conf))
