from srv.runner import chunks


def serve(text):
    return list(chunks(text))
