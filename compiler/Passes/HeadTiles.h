//===- HeadTiles.h - tiles of the rows of several heads -------------------===//
//
// Heads that share a list and its keys may share a tile on sm_90a: a tile of the machine is then
// the same query tile of several heads, one after the other.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialects/Attn/Attn.h"
#include "dialects/Tile/Tile.h"

namespace lacuna {

/// Says of an attend, and of its kernel, how many neighbouring heads share a tile. The program of a
/// kernel is that of one head; who reads the mark may run it for several at once.
constexpr llvm::StringLiteral headTileMark = "lacuna.head_tile";

/// How many neighbouring heads of `op` see the same list through `group`, have the same keys and
/// are masked alike: a tile may have any divisor of them. 1 where heads differ.
int64_t countHeadGroup(attn::AttendOp op, int64_t group);

/// Makes each point along the head axis of `kernel` stand for `heads` heads, of which its body gets
/// the first, and takes the mark away. The launch requires that they have the same head of `key`.
void joinHeads(tile::KernelOp kernel, mlir::Value query, mlir::Value key, int64_t heads);

} // namespace lacuna
