from srv.steps import advance


def run():
    advance()
    return advance()
