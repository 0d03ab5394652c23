#!/bin/sh
# Processes that talk: pipes, subshells, background jobs, waiting, signals to shells.
mount -t proc proc /proc
echo run: begin
echo one two three | tr ' ' '\n' | sort | wc -l
seq 1 1000 | awk '{ s += $1 } END { print s }'
dd if=/dev/zero bs=1k count=300 2>/dev/null | md5sum
yes | head -3
cat /etc/motd | cat | cat | cat | cat | tr a-z A-Z
for i in 1 2 3 4 5 6 7 8; do (seq 1 300 | wc -l) & done | sort | uniq -c | sed 's/^ *//'
mkfifo /tmp/fifo 2>/dev/null || mknod /tmp/fifo p
(echo through a name >/tmp/fifo) &
cat /tmp/fifo
wait
sleep 1 &
wait
echo slept
trap 'echo caught' USR1
kill -USR1 $$
(sleep 1; kill -USR1 $$) &
wait $!
echo "waited $?"
wait
sh -c 'trap "echo int; exit 9" INT; kill -INT $$; echo not here'
echo "status $?"
sh -c 'while :; do :; done' &
loop=$!
kill $loop
wait $loop
echo "status $?"
i=0
while [ $i -lt 60 ]; do
	(exit $((i % 7)))
	[ $? -eq $((i % 7)) ] || echo "wrong status"
	i=$((i + 1))
done
seq 1 20000 >/tmp/numbers
sort -n -r /tmp/numbers | head -2
grep -c 7 /tmp/numbers
x=$(cat /tmp/numbers | (while read -r n; do [ "$n" = 50 ] && echo "found $n"; done; :))
echo "$x"
ls /proc/self/stat /proc/self/statm /proc/self/status
echo run: end
