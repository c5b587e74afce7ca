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

# Of the names in the file only the exercises' are of this form.
exercises=$(grep -o '"[0-9][0-9]_[a-z0-9_]*"' solutions/assignment.json | tr -d '"' | sort -u)
result=$(mktemp)
for exercise in $exercises; do
  ./halo grade "solutions/$exercise/${exercise#*_}.cu" --exercise "$exercise" --format json >"$result"
  grep -q '"outcome": "passed"' "$result" || {
    cat "$result"
    echo "the solution of $exercise has no points here"
    exit 1
  }
  echo "$exercise is graded here, in the sandbox's level $(sed -n 's/^ "sandbox": \(.*\),$/\1/p' "$result")"
done
rm -f "$result"

# Nobody but us reads what students must not know.
chmod -R go-rwx solutions tests
