def load(text):
    try:
        size = int(text)
        share = 100 // size
    except (ValueError, ZeroDivisionError):
        return 0
    return share
