#!/bin/sh
# PrairieLearn runs this for each submission. Whatever happens, there is a result.
results=/grade/results/results.json
mkdir -p /grade/results
echo '{"gradable": false, "format_errors": ["the grader did not finish: tell your instructor"]}' >"$results"
cd /halo/course &&
  HALO_INSTALL=no timeout -k 10 280 ./halo grade /grade/student --assignment solutions/assignment.json \
    --format prairielearn --output "$results"
exit 0
