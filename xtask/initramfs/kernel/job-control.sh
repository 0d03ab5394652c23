#!/bin/sh
# Background jobs, signals by name, stopping and going on, time limits: as busybox's programs see them.
echo run: begin
mkdir -p /proc && mount -t proc none /proc
kill -l | head -n 40
kill -l 9
kill -l TERM
# One column of /proc/PID/stat: $1 the process, $2 the column.
column() { cut -d' ' -f"$2" "/proc/$1/stat"; }
state() { column "$1" 3; }
until_state() {
	n=0
	while [ "$(state "$1")" != "$2" ] && [ $n -lt 200 ]; do usleep 5000; n=$((n + 1)); done
	state "$1"
}
sleep 100 &
job=$!
until_state $job S
[ "$(column $job 4)" = $$ ] && echo "child of the shell"
echo "group of the shell's: $(($(column $job 5) == $(column $$ 5)))"
kill -STOP $job
until_state $job T
kill -CONT $job
until_state $job S
kill -TSTP $job
kill -CONT $job
kill -0 $job && echo there
kill $job
wait $job 2>/dev/null >/dev/null
echo "terminated: $?"
kill -0 $job 2>/dev/null || echo gone
# ps, without what differs: numbers.
sleep 7 &
job=$!
until_state $job S
ps -o stat,args | grep '[s]leep 7'
ps -o pid,ppid,comm | while read pid ppid comm; do [ "$pid" = $job ] && echo "$comm, child $((ppid == $$))"; done
kill -STOP $job
until_state $job T
ps -o stat,args | grep '[s]leep 7'
kill -KILL $job
wait $job 2>/dev/null >/dev/null
echo "killed: $?"
# Masks of /proc/PID/status.
sh -c 'trap "" HUP USR1; trap : TERM; grep -E "Sig(Blk|Ign|Cgt)" /proc/$$/status'
grep -E "^(State|Threads|SigPnd|ShdPnd)" /proc/self/status
# Time limits.
timeout 0.05 sleep 100
echo "timed out: $?"
timeout -s KILL 0.05 sleep 100
echo "timed out by SIGKILL: $?"
timeout 100 sh -c 'exit 5'
echo "in time: $?"
# A trap runs while the shell waits; jobs end in their order.
trap 'echo "trapped USR1"' USR1
(usleep 20000; kill -USR1 $$) &
sleep 0.2 &
wait $!
echo "wait was interrupted: $?"
trap - USR1
wait
for n in 1 2 3; do (usleep $((n * 30000)); exit $n) & done
for n in 1 2 3; do wait -n 2>/dev/null; done
wait
echo "all: $?"
# With job control each job is a group; it stops, goes on, and is brought to the foreground.
setsid sh -c '
	[ -e /dev/ttyAMA0 ] || mknod /dev/ttyAMA0 c 204 64
	exec sh -c "
		set -m
		sleep 100 &
		jobs
		kill -STOP %1
		wait %1
		echo \"stopped: \$?\"
		kill -CONT %1
		kill %1
		wait %1
		echo \"terminated: \$?\"
		sleep 0.05 &
		fg
		echo \"foreground: \$?\"
	" </dev/ttyAMA0 >/tmp/jobs 2>&1
'
cat /tmp/jobs
# A session that ends hangs its jobs up.
sh -c 'trap "echo hung up; exit 3" HUP; kill -HUP $$'
echo "hung up: $?"
echo run: end
