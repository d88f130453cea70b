def complain(name):
    raise ValueError(f'no model {name}')
