from srv.session import serve
try:
    print(serve(-1))
except Exception as error:
    print("escaped", type(error).__name__)
