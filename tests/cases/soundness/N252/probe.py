from srv.session import sizes
from srv.runner import Runner
try:
    print(sizes(Runner(), [9, 2]))
except TypeError as error:
    print("one too many")
