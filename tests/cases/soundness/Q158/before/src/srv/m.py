def area(width, height, scale):
    return (width - height) * scale


def run():
    return area(2, 3, 4)
