from srv.calls import call


def on_stop():
    return "stopped"


def run(event):
    return call(event)
