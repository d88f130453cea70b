def load(open_, parse, path):
    try:
        text = open_(path)
    except OSError:
        return None
    else:
        return parse(text)
