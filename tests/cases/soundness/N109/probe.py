try:
    from srv.session import serve
    print(serve(20))
except ImportError:
    print("gone")
