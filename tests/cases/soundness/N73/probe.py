from srv.cache import Cache
print(Cache().get("a", 1), Cache().get("b", 1), Cache().get("a", 0))
