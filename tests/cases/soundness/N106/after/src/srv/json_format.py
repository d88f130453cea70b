def load():
    return "json"
