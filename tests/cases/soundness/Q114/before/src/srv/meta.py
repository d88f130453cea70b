class Meta(type):
    def __new__(cls, name, bases, body):
        made = super().__new__(cls, name, bases, body)
        made.order = [each for each in body if not each.startswith("__")]
        return made
