# Works the board's devices; xtask/src/devices.rs says what there is and what must come out.
. /modules/load
wait_for() {
	i=0
	while [ ! -e "$1" ]; do
		i=$((i + 1))
		[ $i -lt 50 ] || { echo "devices: no $1"; return 1; }
		usleep 100000
	done
}
# Whether the words behind the name end well.
try() {
	name=$1
	shift
	if "$@" >/tmp/out 2>&1; then echo "devices: $name: ok"; else echo "devices: $name: failed"; fi
}

wait_for /dev/hwrng
echo "devices: rng $(cat /sys/class/misc/hw_random/rng_current)"
dd if=/dev/hwrng of=/tmp/one bs=64 count=1 2>/dev/null
dd if=/dev/hwrng of=/tmp/two bs=64 count=1 2>/dev/null
echo "devices: rng bytes $(md5sum </tmp/one)"
try "rng bytes differ" sh -c '! cmp -s /tmp/one /tmp/two'

wait_for /dev/hvc0
exec 3<>/dev/hvc0
stty raw -echo <&3
echo "the guest speaks" >&3
head -c 500000 /bin/busybox >&3

# vda may be written, vdb only read, vdc's file cannot grow beyond 1 MiB.
for disk in vda vdb vdc; do
	wait_for /dev/$disk
	echo "devices: $disk $(cat /sys/block/$disk/size) $(cat /sys/block/$disk/ro) $(cat /sys/block/$disk/serial)"
done
try "vda write" dd if=/bin/busybox of=/dev/vda bs=4096 count=128 conv=fsync
try "vda discard" busybox blkdiscard -o 1048576 -l 1048576 /dev/vda
try "vdb write" dd if=/bin/busybox of=/dev/vdb bs=4096 count=1 conv=fsync
try "vdc write within" dd if=/bin/busybox of=/dev/vdc bs=4096 count=128 conv=fsync
try "vdc write beyond" dd if=/bin/busybox of=/dev/vdc bs=4096 seek=300 count=1 conv=fsync
try "vda zeroes" sh -c 'dd if=/dev/vda bs=4096 skip=256 count=256 2>/dev/null | cmp -n 1048576 - /dev/zero'
[ ! -f /batch/share.sh ] || . /batch/share.sh
[ ! -f /batch/hotplug.sh ] || . /batch/hotplug.sh
