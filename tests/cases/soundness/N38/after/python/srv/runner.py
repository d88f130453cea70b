from srv.chunks import chunk


def run(items):
    return len(chunk(items))
