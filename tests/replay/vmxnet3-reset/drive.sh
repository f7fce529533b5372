#!/bin/bash
# Suspends and resumes the devices.

for ((i = 0; i < $1; i++)); do
	echo freeze >/sys/power/state || exit
done
