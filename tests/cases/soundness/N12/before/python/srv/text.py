def shorten(text):
    return text[:3]
