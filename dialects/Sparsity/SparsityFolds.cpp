//===- SparsityFolds.cpp - folders and canonical forms --------------------===//
#include "dialects/Sparsity/Sparsity.h"
