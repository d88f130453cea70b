from srv.session import open_session
print(open_session())
