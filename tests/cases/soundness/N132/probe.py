from srv.names import DIGITS, HEX, QUOTE, RATE
print(DIGITS, HEX, QUOTE, RATE)
