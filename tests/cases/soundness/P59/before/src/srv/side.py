print('loaded')
