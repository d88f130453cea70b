def load(open_, parse, path):
    try:
        return parse(open_(path))
    except OSError:
        return None
