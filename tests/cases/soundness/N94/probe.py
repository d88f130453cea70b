from srv.session import serve
from srv.tools import twice
print(serve(2), twice(2))
