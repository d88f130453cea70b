from srv.cache import Cache
print(Cache().get("a"))
