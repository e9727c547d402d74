//===- Footprint.cpp - which key tiles a query tile must visit ------------===//
#include "compiler/Analysis/Footprint.h"
