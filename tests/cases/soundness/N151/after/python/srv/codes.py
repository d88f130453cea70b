from srv.limits import OK


def name_of(code):
    match code:
        case OK:
            return "ok"
    return "failed"
