from dataclasses import asdict, dataclass


@dataclass
class Request:
    num_tokens: int


def make(n):
    return Request(num_tokens=n)


def encode(request):
    return asdict(request)
