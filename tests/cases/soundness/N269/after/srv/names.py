# Names.


def label(n):
    # The text has a line that looks like a comment.
    text = f"""
# {n}

"""
    # As it is.
    return text
