from pk.core import *
