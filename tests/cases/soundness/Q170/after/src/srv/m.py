def run(x, math_=None):
    import math as math_

    return math_.floor(x), math_
