#!/bin/sh
# Once for an image in which submissions are graded: installs what Halo needs and builds the command and the checks of
# the assignment's exercises, so that a submission takes seconds. It ends with 0 only if the solutions are graded.
set -eu
cd "$(dirname "$0")/../../.."
export DEBIAN_FRONTEND=noninteractive HALO_INSTALL=yes

# The sandbox, and opening archives. Where a release lacks one of them, grading says what is missing.
apt-get -q update
for package in bubblewrap git libarchive-dev libseccomp-dev pkg-config; do
  apt-get -q install -y --no-install-recommends "$package" || echo "continuing without: $package"
done

# Of the names in the file only those of exercises and hunts are of this form, and only exercises have a solution.
names=$(grep -o '"[0-9][0-9]_[a-z0-9_]*"' solutions/assignment.json | tr -d '"' | sort -u)
result=$(mktemp)
hunts=
for exercise in $names; do
  [ -d "solutions/$exercise" ] || {
    hunts="$hunts $exercise"
    continue
  }
  ./halo grade "solutions/$exercise/${exercise#*_}.cu" --exercise "$exercise" --format json >"$result"
  grep -q '"outcome": "passed"' "$result" || {
    cat "$result"
    echo "the solution of $exercise has no points here"
    exit 1
  }
  echo "$exercise is graded here, in the sandbox's level $(sed -n 's/^ "sandbox": \(.*\),$/\1/p' "$result")"
done
# As they are handed out the hunts get a verdict.
if [ -n "$hunts" ]; then
  ./halo grade exercises/hunts/start --assignment solutions/assignment.json --format json >"$result" || [ $? = 1 ]
  grep -q '"message": "not yet"' "$result" || {
    cat "$result"
    echo "the hunts are not graded here:$hunts"
    exit 1
  }
  echo "graded here, too:$hunts"
fi
rm -f "$result"

# Nobody but us reads what students must not know.
chmod -R go-rwx solutions tests
