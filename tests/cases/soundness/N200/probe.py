from srv.runner import clip
from srv.session import room
print(clip(20), room(3))
