from srv.banner import BANNER
print(repr(BANNER))
