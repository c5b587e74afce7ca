#!/bin/sh
# Gradescope runs this once, when it makes the image.
exec sh /autograder/source/course/common/grader/bundles/prepare.sh
