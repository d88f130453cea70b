from dataclasses import asdict, dataclass


@dataclass
class Request:
    n: int


def make(n):
    return Request(n=n)


def encode(request):
    return asdict(request)
