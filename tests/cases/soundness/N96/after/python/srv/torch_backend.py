def name():
    return "torch"
