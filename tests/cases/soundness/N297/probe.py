try:
    from srv.runner import room
    print(room(3))
except AttributeError:
    print("not loaded")
