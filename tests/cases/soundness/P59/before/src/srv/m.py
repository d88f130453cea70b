def f():
    import srv.side
    return 1
