from srv.session import place
from srv.tools import spread
print(place(5), spread(8))
