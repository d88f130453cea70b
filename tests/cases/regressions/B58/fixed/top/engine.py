from top.params import Params
