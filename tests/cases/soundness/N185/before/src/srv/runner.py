def on_stop():
    return "stopped"


def call(event):
    return globals()["on_" + event]()


def run(event):
    return call(event)
