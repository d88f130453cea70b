class Kit:
    @staticmethod
    def ready():
        return 1
