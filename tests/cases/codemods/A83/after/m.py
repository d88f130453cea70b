import pickle

from dst import lookup


class Want:
    pass


KEY = Want()
TABLE = {id(KEY): "hit"}


OUT = lookup(KEY), lookup(pickle.loads(pickle.dumps(KEY)))
