# -*- coding: latin-1 -*-
MICRO = "µs"
