# Writes to the disk until the tool is killed.
. /modules/load
until [ -b /dev/vda ]; do usleep 100000; done
/bench/durable /dev/vda
