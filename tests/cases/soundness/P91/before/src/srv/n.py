from srv import settings


def i():
    return settings.LIMIT
