. /modules/load
vsock
echo "devices: vsock status $?"
