import pickle
from geo import Point
blob = pickle.dumps(Point(3), 4)
print(pickle.loads(blob).x, b"Geo" in blob)
