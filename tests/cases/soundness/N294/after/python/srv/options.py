class Option:
    def __set_name__(self, owner, name):
        self.flag = "--" + name.replace("_", "-")


class Options:
    page_size = Option()


def describe():
    return Options.page_size.flag
