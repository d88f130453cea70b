class Meta(type):
    def __new__(cls, name, bases, body):
        made = super().__new__(cls, name, bases, body)
        made.commands = [each for each in body if not each.startswith("__")]
        return made
