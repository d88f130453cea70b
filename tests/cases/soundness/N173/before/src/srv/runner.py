def double(function):
    return lambda n: function(n) * 2


def next_one(function):
    return lambda n: function(n) + 1


@double
@next_one
def run(n):
    return n
