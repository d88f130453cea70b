class Base:
    def hook(self):
        return "base"

    def run(self):
        return "run " + self.hook()


class Plugin:
    def hook(self):
        return "plugin"


class App(Plugin, Base):
    pass
