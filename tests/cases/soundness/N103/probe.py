try:
    from srv.runner import run
    print(run(3))
except ImportError:
    print("cycle")
