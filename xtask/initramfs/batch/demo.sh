uname -a
echo "nproc: $(nproc)"
head -n 3 /proc/meminfo
i=0
sum=0
while [ $i -lt 1000 ]; do
	i=$((i + 1))
	sum=$((sum + i))
done
echo "sum: $sum"
[ $sum = 500500 ]
