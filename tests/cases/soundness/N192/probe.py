from srv.runner import run
from srv.session import serve
print(run(20), serve(3))
