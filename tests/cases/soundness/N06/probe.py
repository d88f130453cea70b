import logging
import sys
logging.basicConfig(stream=sys.stdout, format="%(name)s %(message)s", level=logging.INFO)
from srv.runner import start
start()
