#!/bin/sh
# Draws every example into docs/images and writes docs/examples.md, whose text is each example's comment.
#
#   sh tools/make-pictures.sh [path of lacuna]
set -eu
cd "$(dirname "$0")/.."
lacuna=${1:-build/release/bin/lacuna}

# Smaller tiles than a kernel has: a picture needs many. On grids one extent per axis.
tiles() {
  case $1 in
  neighbourhood_2d) echo 4x4 ;;
  neighbourhood_3d) echo 1x4x4 ;;
  radial_decay) echo 1x8 ;;
  sliding_tile) echo 2x4x4 ;;
  text_and_video) echo 10x1x4x4 ;;
  *) echo 16 ;;
  esac
}

page=docs/examples.md
{
  echo "# Examples"
  echo
  echo "Each is a spec with declared sizes, so that \`lacuna run examples/NAME.mlir --check\` needs nothing else. Pictures have"
  echo "smaller tiles than kernels do. This page is written by \`tools/make-pictures.sh\` from the comments in the specs."
} >"$page"

mkdir -p docs/images
for spec in examples/*.mlir; do
  name=$(basename "$spec" .mlir)
  tile=$(tiles "$name")
  "$lacuna" plot "$spec" --query-tile="$tile" --key-tile="$tile" -o "docs/images/$name.svg"
  {
    echo
    echo "## $name"
    echo
    sed -n 's|^// \{0,1\}||p; /^func/q' "$spec"
    echo
    echo "![Live tiles of $name](images/$name.svg)"
  } >>"$page"
done
{
  echo
  echo "# Systems"
  echo
  echo "Published systems, each as one spec with small sizes. Its text says what the system does, what is known of it, and what the"
  echo "spec leaves out."
} >>"$page"
for spec in examples/systems/*.mlir; do
  {
    echo
    echo "## systems/$(basename "$spec" .mlir)"
    echo
    sed -n 's|^// \{0,1\}||p; /^func/q' "$spec"
  } >>"$page"
done
cat >>"$page" <<'END'

## What systems need and no op expresses yet

| missing | who needs it | instead |
|---|---|---|
| rows of a coarse output spread over the tokens of their blocks, and outputs joined by learned gates | VSA, NSA, SLA | both outputs are results |
| scores added up along diagonals of tokens | MInference, FlexPrefill | distances counted in blocks |
| skipping inside of the attention loop, without a list | Sol-Attn, skip-softmax, SpargeAttn's second stage | lists are stored; a choice that needs values of the loop is left out |
| attention that walks key blocks and gathers the queries of each | MoBA, FSA, NSA with small groups | a map of bytes, which looks at every tile |
| keys gathered token by token on Hopper | Kascade, DSA, SpotAttention | a map of bytes on Hopper; lists of tokens on the CPU |
| a query tile that holds the heads of a group side by side | FlashPrefill V2, MSA | tiles of tokens of one head; the group shares the list |
| pages of keys behind a table | FlashPrefill V2, Quest, MSA | keys in one tensor |
| a low-rank second moment of a block | COBS | its diagonal |
END
echo "wrote $page and docs/images"
