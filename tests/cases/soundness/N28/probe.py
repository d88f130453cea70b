from srv.cli import usage
print(usage())
