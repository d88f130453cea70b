class Option:
    def __set_name__(self, owner, name):
        self.flag = "--" + name.replace("_", "-")


class Options:
    page = Option()


def describe():
    return Options.page.flag
