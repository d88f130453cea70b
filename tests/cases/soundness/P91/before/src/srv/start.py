import srv.n
from srv import settings

settings.LIMIT = 5
