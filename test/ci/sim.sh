#!/usr/bin/env bash
# The long simulations.
set -euo pipefail
cd "$(dirname "$0")/../.."
echo "to be set"
