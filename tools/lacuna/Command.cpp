//===- Command.cpp - command lines: parsing, messages, output -------------===//
#include "tools/lacuna/Command.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace lacuna::tool {

int fail(const Twine &message) {
  outs().flush();
  errs() << "lacuna: error: " << message << '\n';
  return UserMistake;
}

int failUsage(const Command &command, const Twine &message) {
  fail(message);
  errs() << "usage: lacuna " << command.name << ' ' << command.usage << "\ntry 'lacuna "
         << command.name << " --help'\n";
  return WrongUsage;
}

int failEnvironment(const Twine &message) {
  fail(message);
  return Environment;
}

std::string didYouMean(StringRef word, ArrayRef<StringRef> known) {
  // A third of the letters may be wrong; more than that is another word.
  unsigned best = word.size() / 3 + 2;
  StringRef nearest;
  for (StringRef candidate : known) {
    unsigned distance = word.edit_distance(candidate, /*AllowReplacements=*/true, best);
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : (" (did you mean '" + nearest + "'?)").str();
}

static const Option *findOption(const Command &command, StringRef name) {
  const Option *found = find_if(command.options, [&](const Option &o) { return o.name == name; });
  return found == command.options.end() ? nullptr : found;
}

std::optional<Arguments> Arguments::parse(const Command &command, ArrayRef<const char *> words) {
  Arguments arguments;
  arguments.command = &command;
  for (unsigned i = 0; i < words.size(); ++i) {
    StringRef word = words[i];
    if (!word.starts_with("-") || word == "-") {
      arguments.positionals.push_back(word);
      continue;
    }
    auto [name, value] = word.split('=');
    bool hasValue = word.contains('=');
    const Option *option = findOption(command, name);
    if (!option) {
      SmallVector<StringRef> names;
      for (const Option &known : command.options)
        names.push_back(known.name);
      failUsage(command, "unknown option '" + name + "'" + didYouMean(name, names));
      return std::nullopt;
    }
    if (option->value.empty() && hasValue) {
      failUsage(command, "option '" + name + "' takes no value, got '" + value + "'");
      return std::nullopt;
    }
    if (!option->value.empty() && !hasValue) {
      if (i + 1 == words.size()) {
        failUsage(command, "option '" + name + "' expects " + option->value + ", got nothing");
        return std::nullopt;
      }
      value = words[++i];
    }
    arguments.values.push_back({option->name, value});
  }
  if (arguments.positionals.size() != command.positionals) {
    failUsage(command, "expected " + Twine(command.positionals) + " argument" +
                           (command.positionals == 1 ? "" : "s") + " after '" + command.name +
                           "', got " + Twine(arguments.positionals.size()));
    return std::nullopt;
  }
  return arguments;
}

bool Arguments::has(StringRef name) const {
  return any_of(values, [&](const auto &value) { return value.first == name; });
}

StringRef Arguments::get(StringRef name, StringRef fallback) const {
  for (const auto &value : reverse(values))
    if (value.first == name)
      return value.second;
  return fallback;
}

SmallVector<StringRef> Arguments::getAll(StringRef name) const {
  SmallVector<StringRef> all;
  for (const auto &value : values)
    if (value.first == name)
      all.push_back(value.second);
  return all;
}

int writeOutput(StringRef path, StringRef bytes) {
  bool toStdout = path.empty() || path == "-";
  std::error_code error;
  raw_fd_ostream file(toStdout ? StringRef("-") : path, error, sys::fs::OF_None);
  if (!error) {
    file << bytes;
    file.flush();
    error = file.error();
    file.clear_error();
  }
  if (error)
    return failEnvironment("cannot write " + (toStdout ? Twine("stdout") : "'" + path + "'") +
                           ": " + error.message());
  return Success;
}

} // namespace lacuna::tool
