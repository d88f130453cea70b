import os


def place(name, root=None):
    if root is None:
        root = os.getcwd()
    return os.path.join(root, name)
