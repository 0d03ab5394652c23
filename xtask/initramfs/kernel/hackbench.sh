#!/bin/sh
# Debian's hackbench: glibc's dynamic loader, processes and threads, socket pairs and pipes. Its times are masked.
export PATH=/bin
mount -t proc proc /proc
bench() {
	echo "hackbench $*"
	hackbench "$@" 2>&1 | sed 's/^Time: .*/Time/'
}
echo run: begin
bench -P -p -g 1 -f 5 -l 20
bench -P -p -g 3 -f 2 -l 30 -s 4096
bench -P -g 1 -f 5 -l 20
bench -T -p -g 1 -f 5 -l 20
bench -T -g 2 -f 4 -l 20
bench -g 2 -f 3 -l 40 -s 1000
echo run: end
