def label(n):
    text = u"pool " \
        f"{n}" " pages"
    return text
