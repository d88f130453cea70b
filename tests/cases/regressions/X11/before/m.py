class Plain:
    def __init__(self, host, timeout=30):
        self.host, self.timeout = host, timeout


class Tls:
    def __init__(self, host, timeout=30, verify=True):
        self.host, self.timeout, self.verify = host, timeout, verify


def connect(host, tls, timeout, verify):
    if tls:
        return Tls(host, timeout, verify)
    return Plain(host, timeout)
