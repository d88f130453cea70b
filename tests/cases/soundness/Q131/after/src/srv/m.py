from srv.n import show


def run():
    return show("!")
