hackbench -g 2 -l 50
hackbench -g 2 -l 50 -T -p
