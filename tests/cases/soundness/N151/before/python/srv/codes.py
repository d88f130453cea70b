from srv import limits


def name_of(code):
    match code:
        case limits.OK:
            return "ok"
    return "failed"
