def double(function):
    return lambda n: function(n) * 2


def next_one(function):
    return lambda n: function(n) + 1


@next_one
@double
def run(n):
    return n
