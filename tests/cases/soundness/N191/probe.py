from srv.runner import make
from srv.session import size
print(size(make(3)))
