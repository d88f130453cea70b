from srv.config import settings
from srv.runner import run
print(run(2), settings)
