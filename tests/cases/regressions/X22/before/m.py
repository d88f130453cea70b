class ConfigError(Exception):
    pass


def port(text):
    try:
        n = int(text)
    except ValueError as e:
        raise ConfigError(str(text)) from e
    return n
