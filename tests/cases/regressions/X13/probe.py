from heavy import Heavy
from m import Job
for make in (Job, Heavy):
    try:
        print(make(3).cost())
    except AttributeError:
        print("AttributeError")
