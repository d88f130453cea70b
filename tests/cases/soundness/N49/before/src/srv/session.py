from srv.steps import spend


def serve(n):
    return [spend(n), spend(n)]
