def load(text):
    try:
        size = int(text)
    except (ValueError, ZeroDivisionError):
        return 0
    else:
        share = 100 // size
    return share
