# Reads what vambrace.source= names (vda, nullb0, none), 256 MiB at a time, as often as vambrace.times= says.
while read -r module; do
	case $module in
	null_blk) insmod /modules/null_blk.ko gb=1 ;;
	*) insmod "/modules/$module.ko" ;;
	esac || exit 1
done <<-EOF
$(cat /modules/order; echo)
EOF
source=none times=1
read -r cmdline </proc/cmdline
for word in $cmdline; do
	case $word in
	vambrace.source=*) source=${word#*=} ;;
	vambrace.times=*) times=${word#*=} ;;
	esac
done
i=0
while [ ! -b /dev/vda ] || [ ! -b /dev/nullb0 ]; do
	i=$((i + 1))
	[ $i -lt 50 ] || { echo "blk: no /dev/vda or /dev/nullb0"; exit 1; }
	usleep 100000
done
echo bench: begin blk
while [ "$source" != none ] && [ "$times" -gt 0 ]; do
	times=$((times - 1))
	dd if=/dev/$source of=/dev/null bs=128k count=2048 iflag=direct || exit 1
done
echo bench: end blk
