class Hooks:
    def hook(self):
        return "base"


class Base:
    def run(self):
        return "run " + self.hook()


class Plugin:
    def hook(self):
        return "plugin"


class App(Hooks, Plugin, Base):
    pass
