class Scratch:
    def __init__(self, files):
        self.files = files
        files.append("scratch")

    def __del__(self):
        self.files.clear()


def run():
    files = []
    scratch = Scratch(files)
    scratch.files.append("model")
    return list(files)
