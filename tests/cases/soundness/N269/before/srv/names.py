
def label(n):
    # The text has a line that looks like a comment.
    text = f"""
# {n}

"""

    return text  # as it is
