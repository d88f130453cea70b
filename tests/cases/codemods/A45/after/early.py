def ask():
    from dst import VALUE
    return VALUE
