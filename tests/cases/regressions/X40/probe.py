from m import complain

try:
    complain('a')
except ValueError as error:
    print(error)
