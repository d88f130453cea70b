import os


def place(name, root=os.getcwd()):
    return os.path.join(root, name)
