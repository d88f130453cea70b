def url(path, *, host, port):
    return f"{host}:{port}/{path}"
