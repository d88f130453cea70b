import srv.torch_backend
import srv.flash_backend
from srv.registry import NAMES


def names():
    return NAMES
