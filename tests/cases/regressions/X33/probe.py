from m import close


class Conn:
    def flush(self):
        raise OSError('gone')

    def close(self):
        print('close')


try:
    print(close(Conn(), str))
except OSError as error:
    print('raised', error)
