def typed(function):
    kind = function.__annotations__.get("value", str)
    return lambda text: function(kind(text))
