from srv.chunks import chunks


def serve(text):
    return list(chunks(text))
