from registry import register


@register("json")
def read_json(text):
    return text
