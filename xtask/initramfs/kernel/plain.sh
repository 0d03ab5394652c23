#!/bin/sh
# Programs that ask nothing of a kernel that Linux has not.
echo run: begin
hello
echo "status $?"
contpte | grep -E '^contpte: (right|wrong)$'
echo run: end
