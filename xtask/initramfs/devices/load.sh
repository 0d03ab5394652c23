# Loads the modules beside it; read by scripts that need them.
for module in $(cat /modules/order); do
	insmod /modules/$module.ko || echo "devices: cannot load $module"
done
