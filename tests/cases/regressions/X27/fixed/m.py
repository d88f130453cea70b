def _bind(log):
    log.append("bind")


async def _serve(log):
    log.append("serve")
    return len(log)


def start(log):
    _bind(log)
    return _serve(log)
