from srv import status


def name_of(code):
    match code:
        case status.OK:
            return "ok"
    return "failed"
