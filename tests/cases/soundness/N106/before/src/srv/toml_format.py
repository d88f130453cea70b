def load():
    return "toml"
