try:
    from srv.limits import MAX
    print(MAX)
except ImportError:
    print("hidden")
