from srv.banner import BANNER, size
print(repr(BANNER), size())
