#!/bin/sh
# perf bench sched messaging of Debian's linux-perf: the program that hackbench became. Its times are masked.
export PATH=/bin
mount -t proc proc /proc
bench() {
	echo "perf bench sched messaging $*"
	perf bench sched messaging "$@" 2>&1 | sed 's/Total time: .*/Total time/'
}
echo run: begin
bench -g 1 -l 10
bench -p -g 1 -l 10
bench -t -g 1 -l 10
bench -t -p -g 1 -l 10
echo run: end
