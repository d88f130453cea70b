from srv.n import f
