# VAMBRACE_STRESS: seconds.
. /run/vambrace/settings
stress-ng --verify --timeout "$VAMBRACE_STRESS" --metrics-brief --no-rand-seed --temp-path /tmp/stress-ng --oomable \
	--cpu 1 --cpu-method all --vm 1 --vm-bytes 48M --hdd 1 --hdd-bytes 16M --fork 1 --pipe 1 --futex 1 --matrix 1 \
	--memcpy 1 --qsort 1 --mutex 1 --atomic 1 --timer 1 --timer-freq 10000 --sigq 1 --vecmath 1
