from pk.backend import Backend
from pk.key import Key
