from srv.core.paths import folder


def run():
    return folder()
