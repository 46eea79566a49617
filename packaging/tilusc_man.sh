#!/usr/bin/env bash
# Writes the manual page of tilusc, from the --help of each of its commands, to stdout.
# usage: packaging/tilusc_man.sh TILUSC > tilusc.1
set -euo pipefail

tilusc=${1:?usage: tilusc_man.sh TILUSC}

# commands [PREFIX...]: the names under "Subcommands:".
commands() {
  "$tilusc" "$@" --help | awk '
    /^Subcommands:/ { inside = 1; next }
    /^$/ || /^[^ ]/ { inside = 0 }
    inside && /^  [a-z]/ { print $1 }'
}

# Text for roff: backslashes and leading dots would be commands.
roff() { sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\([.']\)/\\\\\&\1/"; }

# One command: usage, description, arguments and options as tagged paragraphs, examples as they are.
section() {
  printf '.SS tilusc %s\n' "$*"
  "$tilusc" "$@" --help | roff | awk '
    function flush() { if (tag != "") printf ".TP\n.B %s\n%s\n", tag, text; tag = text = "" }
    NR == 1 || (!usage && !/^Usage:/) { print; next }
    /^Usage:/ { usage = 1; sub(/^Usage: /, ""); printf ".PP\n.B %s\n", $0; next }
    /^Examples:/ { flush(); print ".PP\nExamples:\n.PP\n.nf"; examples = 1; next }
    examples { print; next }
    /^[A-Z][a-z]*:/ || /^$/ { flush(); next }
    /^  [^ ]/ {
      flush()
      line = substr($0, 3)
      if (match(line, /  +/)) {
        tag = substr(line, 1, RSTART - 1); text = substr(line, RSTART + RLENGTH)
      } else {
        tag = line
      }
      next
    }
    { sub(/^ +/, ""); text = text (text == "" ? "" : "\n") $0 }
    END { flush(); if (examples) print ".fi" }'
}

version=$("$tilusc" --version | head -n 1 | cut -d ' ' -f 2)
cat << EOF
.TH TILUSC 1 "" "tilus $version" "User Commands"
.SH NAME
tilusc \\- compile, run and inspect tile\\-level GPU programs
.SH SYNOPSIS
.B tilusc
.I COMMAND
[\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]
.SH DESCRIPTION
A program says what one thread block of a kernel does with whole tiles of tensors.
.B tilusc
compiles it to PTX, a cubin or a module for NVIDIA GPUs, and runs it on a GPU or, without one, on
the CPU. Programs are read as text or protobuf, told by content. Files named \\- are standard input
and output. Output files appear whole or not at all.
.SH COMMANDS
EOF
for name in $(commands); do
  inner=$(commands "$name")
  if [[ -z $inner ]]; then
    section "$name"
  else
    for word in $inner; do section "$name" "$word"; done
  fi
done
cat << 'EOF'
.SH EXIT STATUS
.TP
.B 0
an answer was given; that a view is illegal is an answer
.TP
.B 1
the input is at fault: a program, expression, type, array or value
.TP
.B 2
the command line is not as \-\-help says
.TP
.B 3
a file, device or assembler is not there or fails
.PP
What is at fault is said on standard error, each finding with an id that never changes (T0230);
with \-\-json as one JSON array.
.SH ENVIRONMENT
.TP
.B TILUS_NVJITLINK, TILUS_CUDA_PATH
the assembler library for cubins, or the folder that holds it
.TP
.B TILUS_NVDISASM
nvdisasm or cuobjdump, for tilusc disasm
.TP
.B TILUS_LIBCUDA
the driver library
.TP
.B NO_COLOR
when set, terminals get no colours
EOF
