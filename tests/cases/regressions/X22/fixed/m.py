class ConfigError(Exception):
    pass


def _number(text):
    try:
        return int(text)
    except ValueError as e:
        raise ConfigError(str(text)) from e


def port(text):
    return _number(text)
