from srv.runner import NAMES
print(len(NAMES))
