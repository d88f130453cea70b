def call(event):
    return globals()["on_" + event]()
