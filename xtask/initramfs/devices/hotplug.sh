# CPUs go and come again.
cpus=/sys/devices/system/cpu
echo "devices: online $(cat $cpus/online)"
for round in 1 2; do
	for cpu in 3 1; do
		try "cpu$cpu off" sh -c "echo 0 >$cpus/cpu$cpu/online"
	done
	echo "devices: online $(cat $cpus/online) $(grep -c ^processor /proc/cpuinfo)"
	for cpu in 1 3; do
		try "cpu$cpu on" sh -c "echo 1 >$cpus/cpu$cpu/online"
	done
done
for cpu in 0 1 2 3; do
	try "work on cpu$cpu" taskset $((1 << cpu)) sh -c "[ \$(cut -d' ' -f39 /proc/self/stat) = $cpu ]"
done
