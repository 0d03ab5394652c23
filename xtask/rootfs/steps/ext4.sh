# Files written, flushed, forgotten and read again.
set -e
seq 1 1000000 >numbers
sync numbers
for name in a b c; do
	dd if=numbers of=$name bs=64K conv=fsync 2>/dev/null
done
dd if=numbers of=direct bs=128K oflag=direct iflag=fullblock count=40 2>/dev/null
sync
echo 3 >/proc/sys/vm/drop_caches
sha256sum numbers a b c
dd if=direct bs=128K iflag=direct 2>/dev/null | sha256sum
for n in $(seq 1 500); do
	echo $n >small.$n
done
sync
echo 3 >/proc/sys/vm/drop_caches
cat small.* | sort -n | sha256sum
rm small.* a b c direct
ls
