#!/bin/bash
# A network device that is plugged in, set up, reset and unplugged. It is reset
# when the machine resumes.

device=$(grep -l 0x15ad /sys/bus/pci/devices/*/vendor)
device=${device%/vendor}
for ((i = 0; i < $1; i++)); do
	if [[ ! -e $device ]]; then
		echo 1 >/sys/bus/pci/rescan || exit
	fi
	for net in "$device"/net/*; do ip link set "${net##*/}" up || exit; done
	echo freeze >/sys/power/state || exit
	echo 1 >"$device/remove" || exit
done
echo 1 >/sys/bus/pci/rescan
