//===- Command.h - a subcommand, its options and its arguments ------------===//
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <cstdint>
#include <optional>
#include <string>

namespace lacuna::tool {

/// What a program's exit code says. docs/command-line.md has the same table.
enum ExitCode : int {
  Success = 0,
  /// The input is at fault: a spec, a size, a file that is not there, a result beyond tolerance.
  UserMistake = 1,
  /// The command line is at fault: an unknown option, a missing argument.
  WrongUsage = 2,
  /// This machine or build is at fault: no such target, a file that cannot be written.
  Environment = 3,
};

/// One option of a subcommand, as help shows it and the parser accepts it.
struct Option {
  /// With its dashes: "--set", "-o".
  llvm::StringRef name;
  /// How help names the value; empty for a flag.
  llvm::StringRef value;
  llvm::StringRef help;
};

class Arguments;

/// One subcommand. Objects are constants, one per source file.
struct Command {
  llvm::StringRef name;
  llvm::StringRef summary;
  /// What follows the name in the usage line.
  llvm::StringRef usage;
  /// Paragraphs that teach, with examples.
  llvm::StringRef help;
  llvm::ArrayRef<Option> options;
  /// How many positional arguments are wanted, exactly, and what the usual one is called.
  unsigned positionals;
  int (*run)(const Arguments &arguments);
};

/// A checked command line: every option is one of the command's, every value is there.
class Arguments {
public:
  /// Parses what follows the subcommand's name. After a mistake a message is on stderr and the
  /// result is empty.
  static std::optional<Arguments> parse(const Command &command, llvm::ArrayRef<const char *> words);

  const Command &getCommand() const { return *command; }
  llvm::StringRef positional(unsigned index) const { return positionals[index]; }
  bool has(llvm::StringRef name) const;
  /// The value of the last `name`, or `fallback` when there is none.
  llvm::StringRef get(llvm::StringRef name, llvm::StringRef fallback = {}) const;
  /// The values of all occurrences, in order.
  llvm::SmallVector<llvm::StringRef> getAll(llvm::StringRef name) const;

private:
  const Command *command = nullptr;
  llvm::SmallVector<llvm::StringRef> positionals;
  llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>> values;
};

/// Prints "lacuna: error: ..." and returns UserMistake.
int fail(const llvm::Twine &message);
/// Prints the message with a hint at the command's help and returns WrongUsage.
int failUsage(const Command &command, const llvm::Twine &message);
/// Prints "lacuna: error: ..." and returns Environment.
int failEnvironment(const llvm::Twine &message);

/// " (did you mean 'x'?)" when one of `known` is close to `word`, else nothing.
std::string didYouMean(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> known);

/// Writes `bytes` to `path`, or to stdout when the path is empty or "-". Returns an exit code,
/// after a message unless it is Success.
int writeOutput(llvm::StringRef path, llvm::StringRef bytes);

/// All subcommands, in the order of the help.
llvm::ArrayRef<const Command *> allCommands();

extern const Command benchCommand;
extern const Command cacheCommand;
extern const Command compileCommand;
extern const Command inspectCommand;
extern const Command envCommand;
extern const Command runCommand;
extern const Command explainCommand;
extern const Command plotCommand;

} // namespace lacuna::tool
