def _bind(log):
    log.append("bind")


async def _serve(log):
    log.append("serve")
    return len(log)


async def start(log):
    _bind(log)
    return await _serve(log)
