from srv.runner import getters
print([get() for get in getters(3)])
