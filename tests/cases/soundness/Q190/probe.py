from srv.n import Loud
print(Loud().run())
