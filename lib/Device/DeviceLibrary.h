//===- DeviceLibrary.h - the text of the device library -------------------===//
#pragma once

#include <string_view>

namespace lacuna {

/// One function per machine instruction.
std::string_view devicePrimitives();
/// Integer division and reads of captured tensors; after the primitives.
std::string_view deviceScalars();
/// Live pairs of a tile as bits; after the primitives.
std::string_view deviceMasks();
/// Rows of tensors, one warp each; after the primitives.
std::string_view deviceRows();
/// Sums of single rows, for those that masked NaN or infinities spoil; after the scalars.
std::string_view deviceRecompute();
/// Shared memory and the producer of the forward pipeline; after the primitives.
std::string_view deviceProducer();
/// The order of work items whose lengths are known on the device alone; after the producer.
std::string_view deviceItemOrder();
/// The consumers; after the producer and the matrix instructions of the kernel's shapes.
std::string_view deviceAttention();
/// The producer where keys are gathered one by one; after the pipeline.
std::string_view deviceGather();
/// Tiles left out by a look at their scores; after the forward pipeline.
std::string_view deviceSkips();
/// What the threads of a warp or a block find out together; after the primitives.
std::string_view deviceTeams();
/// One row for each block of tokens; after the rows and the teams.
std::string_view deviceSummaries();
/// Matrix instructions of one warp; after the primitives.
std::string_view deviceMatrices();
/// Scores of blocks; after the rows and the matrices.
std::string_view deviceScores();
/// Scores of pairs that are results as they are; after the scores.
std::string_view devicePlainScores();
/// Lists of the best columns; after the teams.
std::string_view deviceChoices();
/// Choices in rows whose keys stay in registers; after the choices.
std::string_view deviceKeptRows();
/// Drawn lists, and how clear choices are; after the choices.
std::string_view deviceDraws();
/// Lists of blocks in other formats, and from other lists; after the primitives.
std::string_view deviceSelectLists();
/// Scores of what lists name; after the rows and the lists.
std::string_view deviceSelectRefine();
/// Choices among children; after lists, rows and kept rows.
std::string_view deviceRefinedRows();

/// States of linear attention; after the rows and the matrices.
std::string_view deviceLinearStates();
/// Rows of linear attention; after its states.
std::string_view deviceLinearReads();

/// Products of rows with matrices; after the states of linear attention.
std::string_view deviceProjections();

} // namespace lacuna
