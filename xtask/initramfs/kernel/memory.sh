#!/bin/sh
# Memory that runs out: whoever takes all of it ends, and the others go on.
echo run: begin
tail /dev/zero
echo "took all memory: status $?"
dd if=/dev/zero of=/tmp/full bs=64k 2>&1 | grep -o 'No space left on device'
echo "and text" 2>&1 >>/tmp/full || echo "no room for more"
rm /tmp/full
echo "room" >/tmp/small && cat /tmp/small
tail /dev/zero &
wait $!
echo "took all memory in the background: status $?"
sleep 0.1 && echo "the others go on" | cat
echo run: end
