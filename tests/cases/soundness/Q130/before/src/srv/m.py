from srv.state import bump, show


def run():
    bump()
    return show("!")
