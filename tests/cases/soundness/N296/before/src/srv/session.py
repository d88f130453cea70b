from srv.request import Request


def kind(request):
    match request:
        case Request(n=0):
            return "empty"
    return "full"
