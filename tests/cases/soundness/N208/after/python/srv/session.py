from srv.runner import PAGE


def pages(tokens):
    return tokens // PAGE
