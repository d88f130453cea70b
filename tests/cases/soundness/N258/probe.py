from srv.runner import SIZES
print(SIZES)
