class Plain:
    def __init__(self, host, timeout=30):
        self.host, self.timeout = host, timeout


class Tls:
    def __init__(self, host, timeout=30, verify=True):
        self.host, self.timeout, self.verify = host, timeout, verify


def _connect_tls(host, verify):
    return Tls(host, verify=verify)


def connect(host, tls, timeout, verify):
    if tls:
        return _connect_tls(host, verify)
    return Plain(host, timeout)
