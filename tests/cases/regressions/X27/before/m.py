async def _serve(log):
    log.append("serve")
    return len(log)


def start(log):
    log.append("bind")
    return _serve(log)
