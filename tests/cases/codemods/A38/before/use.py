from helper import Box
STATE = Box.boot()
import os
