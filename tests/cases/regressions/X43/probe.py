from m import load


def parse(text):
    raise OSError('disk')


try:
    print(load(str, parse, 'a'))
except OSError as error:
    print('raised', error)
