from srv.compat import *
