from srv.request import Request


def kind(request):
    match request:
        case Request(num_tokens=0):
            return "empty"
    return "full"
