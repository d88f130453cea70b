import srv.flash_backend
import srv.torch_backend
from srv.registry import NAMES


def names():
    return NAMES
