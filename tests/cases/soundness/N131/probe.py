from srv.paths import SHARE
print(repr(SHARE))
