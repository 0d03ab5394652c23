# On the host: makes a virtual machine from what lies in /nested. Its settings: machine, memory, cpus, append, input.
. /nested/settings
echo "outer: $(uname -a)"
read -r begin rest </proc/uptime
qemu-system-aarch64 -accel kvm -M "$machine" -cpu host -smp "$cpus" -m "$memory" \
	-nodefaults -display none -monitor none -serial stdio -no-reboot \
	-kernel /nested/Image -initrd /nested/initrd -append "$append" \
	-drive if=none,id=disk,format=raw,file=/nested/disk -device virtio-blk-device,drive=disk <"$input"
status=$?
read -r end rest </proc/uptime
echo "outer: uptime $begin $end"
echo "outer: disk begins: $(head -n 1 /nested/disk | cut -d " " -f 1-2)"
exit $status
