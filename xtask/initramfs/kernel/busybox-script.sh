#!/bin/sh
# What a shell and single programs need of a kernel.
echo run: begin
echo hi
ls /
cat /etc/motd
i=0
while [ $i -lt 20 ]; do i=$((i + 1)); done
echo "counted to $i"
(echo in a subshell; exit 3)
echo "status $?"
mkdir /tmp/d
for name in c a b; do echo "this is $name" >/tmp/d/$name; done
cat /tmp/d/*
rm /tmp/d/b
ls /tmp/d
mv /tmp/d/a /tmp/d/z
ls /tmp/d
cd /tmp/d
pwd
ln -s z link
cat link
readlink link
cat /none
echo "status $?"
sh -c 'kill -9 $$'
echo "status $?"
sh -c 'exit 42'
echo "status $?"
uname -s -m
echo run: end
