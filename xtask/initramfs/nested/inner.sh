# In the virtual machine: what it is, whether its time passes, whether its disk reads and writes.
echo "inner: $(uname -a)"
echo "inner: nproc $(nproc)"
read -r begin rest </proc/uptime
sleep 1
read -r end rest </proc/uptime
echo "inner: uptime $begin $end"
for module in virtio virtio_ring virtio_mmio virtio_blk; do
	[ ! -f /modules/$module.ko ] || insmod /modules/$module.ko || exit 1
done
i=0
while [ ! -b /dev/vda ]; do
	i=$((i + 1))
	[ $i -lt 50 ] || { echo "inner: no /dev/vda"; exit 1; }
	usleep 100000
done
echo "inner: disk of $(wc -l </dev/vda) lines ends: $(tail -n 1 /dev/vda | cut -d ' ' -f 1-2)"
echo "written inside" | dd of=/dev/vda conv=fsync 2>/dev/null
