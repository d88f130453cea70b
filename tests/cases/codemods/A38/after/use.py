import dst
STATE = dst.boot()
import os
