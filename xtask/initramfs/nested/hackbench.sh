# In the virtual machine: groups of processes that send messages, sized by vambrace.groups and vambrace.loops.
read -r cmdline </proc/cmdline
for word in $cmdline; do
	case $word in
	vambrace.groups=*) groups=${word#*=} ;;
	vambrace.loops=*) loops=${word#*=} ;;
	esac
done
echo "inner: $(uname -a)"
echo "inner: nproc $(nproc)"
hackbench -g "$groups" -l "$loops"
