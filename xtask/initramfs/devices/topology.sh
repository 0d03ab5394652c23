# What Linux makes of sockets, clusters and NUMA nodes.
for cpu in 0 1 2 3 4 5 6 7; do
	dir=/sys/devices/system/cpu/cpu$cpu
	node=$(echo $dir/node*)
	echo "devices: cpu$cpu package $(cat $dir/topology/physical_package_id) cluster $(cat $dir/topology/cluster_cpus_list) node ${node##*node}"
done
for node in 0 1; do
	echo "devices: distances $(cat /sys/devices/system/node/node$node/distance)"
done
for node in 0 1; do
	echo "devices: memory $node $(awk '/MemTotal/ { print $4 }' /sys/devices/system/node/node$node/meminfo)"
done
cpu=/sys/devices/system/cpu/cpu7/online
for state in 0 1; do
	[ $state = 0 ] && word=off || word=on
	if echo $state >$cpu; then echo "devices: cpu7 $word: ok"; else echo "devices: cpu7 $word: failed"; fi
done
