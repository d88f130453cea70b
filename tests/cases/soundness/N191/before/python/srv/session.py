from srv.runner import Request


def size(request: Request) -> int:
    return request.size() if isinstance(request, Request) else 0
