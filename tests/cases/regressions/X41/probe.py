from m import shown
shown(1.23456, print)
