import os\


x = os.sep
