from srv.session import Session
print(Session("a").merge(Session("b")))
