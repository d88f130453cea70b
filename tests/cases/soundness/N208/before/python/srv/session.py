from srv.runner import Runner


def pages(tokens):
    return tokens // Runner.PAGE
