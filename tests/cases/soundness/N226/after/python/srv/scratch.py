class Scratch:
    def __init__(self, files):
        self.files = files
        files.append("scratch")

    def __del__(self):
        self.files.clear()


def prepare(files):
    scratch = Scratch(files)
    scratch.files.append("model")


def run():
    files = []
    prepare(files)
    return list(files)
