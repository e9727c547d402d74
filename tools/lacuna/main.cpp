//===- main.cpp - lacuna: the program people use --------------------------===//
#include "tools/lacuna/Command.h"
#include "tools/lacuna/Timing.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace lacuna::tool;

static std::string leftJustified(StringRef text, unsigned width) {
  return text.str() + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

static void printGeneralHelp(raw_ostream &os) {
  os << "lacuna: compiles attention with gaps.\n\n"
        "A spec says, in MLIR, which keys each query attends to. Lacuna computes from it which "
        "tiles\n"
        "of the score matrix hold live pairs, and generates kernels that visit only those.\n\n"
        "usage: lacuna COMMAND [ARGUMENTS]\n\ncommands:\n";
  for (const Command *command : allCommands())
    os << "  " << leftJustified(command->name, 9) << command->summary << '\n';
  os << "  " << leftJustified("help", 9) << "this text, or the help of a command: lacuna help run\n"
     << "\nA first session:\n\n"
        "  lacuna run examples/sliding_window_sinks.mlir --set n=4096,left=255 --check\n"
        "  lacuna explain examples/sliding_window_sinks.mlir --set n=1048576,left=4095\n"
        "  lacuna plot examples/sliding_window_sinks.mlir -o picture.svg\n"
        "  lacuna compile examples/sliding_window_sinks.mlir --emit=tile\n"
        "\nExit codes: 0 success; 1 a mistake in the input; 2 wrong usage; 3 this machine or this\n"
        "build lacks something. Messages go to stderr.\n";
}

static void printHelp(const Command &command, raw_ostream &os) {
  os << "lacuna " << command.name << ": " << command.summary << "\n\nusage: lacuna " << command.name
     << ' ' << command.usage << "\n\noptions:\n";
  for (const Option &option : command.options) {
    std::string left = option.name.str();
    if (!option.value.empty())
      left += (option.name.starts_with("--") ? "=" : " ") + option.value.str();
    os << "  " << leftJustified(left, 24);
    StringRef rest = option.help;
    for (bool first = true; !rest.empty(); first = false) {
      auto [line, next] = rest.split('\n');
      os << (first ? "" : std::string(26, ' ')) << line << '\n';
      rest = next;
    }
  }
  os << '\n' << command.help;
}

static const Command *findCommand(StringRef name) {
  for (const Command *command : allCommands())
    if (command->name == name)
      return command;
  SmallVector<StringRef> names;
  for (const Command *command : allCommands())
    names.push_back(command->name);
  fail("unknown command '" + name + "'" + didYouMean(name, names));
  errs() << "try 'lacuna --help'\n";
  return nullptr;
}

static bool isHelp(StringRef word) { return word == "--help" || word == "-h"; }

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  ArrayRef<const char *> words(argv + 1, argv + argc);
  if (words.empty()) {
    printGeneralHelp(errs());
    return WrongUsage;
  }
  StringRef name = words.front();
  if (name == "--version") {
    outs() << "lacuna " LACUNA_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
    return Success;
  }
  bool asksHelp = isHelp(name) || name == "help";
  if (asksHelp && words.size() == 1) {
    printGeneralHelp(outs());
    return Success;
  }
  const Command *command = findCommand(asksHelp ? words[1] : words[0]);
  if (!command)
    return WrongUsage;
  if (asksHelp || any_of(words.drop_front(), [](StringRef word) { return isHelp(word); })) {
    printHelp(*command, outs());
    return Success;
  }
  std::optional<Arguments> arguments = Arguments::parse(*command, words.drop_front());
  if (!arguments)
    return WrongUsage;
  CommandTiming timing(*arguments);
  return command->run(*arguments);
}
