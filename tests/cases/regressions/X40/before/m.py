def complain(name):
    raise ValueError('no model %r' % (name,))
