import os


def _root(root):
    return os.getcwd() if root is None else root


def place(name, root=None):
    return os.path.join(_root(root), name)
