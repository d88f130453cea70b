NAMES = ['a','b',
         'c']
def run(a,b,c = 3):
    return {'sum':a+b+c,
            "text" : ("x" 'y')}
