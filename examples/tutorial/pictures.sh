#!/bin/sh
# Makes the pictures of README.md again: `sh pictures.sh [BGC]`
bgc=${1:-bgc}
cd "$(dirname "$0")" || exit 1
"$bgc" graph 3_motor.bg -o motor.svg && "$bgc" run 3_motor.bg --plot motor_run.svg -o /dev/null
