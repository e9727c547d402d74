//===- Cache.cpp - lacuna cache: what is kept between runs -----------------===//
#include "lib/Support/Settings.h"
#include "lib/Support/Text.h"
#include "runtime/Cache/BlobStore.h"
#include "runtime/Cache/DiskLayer.h"
#include "tools/lacuna/Command.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace lacuna::tool {

namespace {
/// What an action works on.
struct Request {
  const Arguments &arguments;
  DiskLayer &disk;
  uint64_t limit;
  bool json() const { return arguments.has("--json"); }
};

/// What stands behind 'lacuna cache'.
struct Action {
  llvm::StringRef name;
  int (*run)(const Request &request);
};
} // namespace

static int print(llvm::json::Object object) {
  return writeOutput("", llvm::formatv("{0:2}\n", llvm::json::Value(std::move(object))).str());
}

static int64_t number(uint64_t value) { return static_cast<int64_t>(value); }

static std::string timeText(int64_t nanoseconds) {
  return llvm::formatv("{0:%Y-%m-%d %H:%M:%S}",
                       llvm::sys::TimePoint<>(std::chrono::nanoseconds(nanoseconds)));
}

static int list(const Request &request) {
  Result<std::vector<ListedEntry>> entries = request.disk.list();
  if (!entries)
    return failEnvironment(entries.status().message());
  llvm::json::Array array;
  std::string text;
  llvm::raw_string_ostream os(text);
  uint64_t total = 0;
  // The one used last is what somebody looks for.
  for (const ListedEntry &entry : llvm::reverse(*entries)) {
    std::string label = request.disk.label(entry.key);
    total += entry.bytes;
    array.push_back(llvm::json::Object{{"kind", entry.key.kind},
                                       {"key", entry.key.digest.hex()},
                                       {"bytes", number(entry.bytes)},
                                       {"last_use", timeText(entry.lastUse)},
                                       {"label", llvm::json::fixUTF8(label)}});
    os << llvm::left_justify(entry.key.kind, 9) << entry.key.digest.hex().substr(0, 12)
       << llvm::right_justify(groupedText(number(entry.bytes)), 13) << "  "
       << timeText(entry.lastUse) << "  " << label << '\n';
  }
  if (request.json())
    return print(llvm::json::Object{{"folder", llvm::json::fixUTF8(request.disk.folder())},
                                    {"bytes", number(total)},
                                    {"limit", number(request.limit)},
                                    {"entries", std::move(array)}});
  os << entries->size() << (entries->size() == 1 ? " entry, " : " entries, ")
     << groupedText(number(total)) << " of at most " << groupedText(number(request.limit))
     << " bytes\n";
  return writeOutput("", text);
}

static int verify(const Request &request) {
  Result<std::vector<ListedEntry>> entries = request.disk.list();
  if (!entries)
    return failEnvironment(entries.status().message());
  llvm::json::Array array;
  std::string text;
  for (const ListedEntry &entry : *entries) {
    Result<Entry> checked = request.disk.check(entry.key);
    // What another process has removed meanwhile is no fault.
    if (checked || checked.status().code() == StatusCode::NotFound)
      continue;
    array.push_back(
        llvm::json::Object{{"kind", entry.key.kind},
                           {"key", entry.key.digest.hex()},
                           {"reason", llvm::json::fixUTF8(checked.status().message())}});
    text += checked.status().message() + "\n";
  }
  size_t damaged = array.size();
  text += llvm::formatv("{0} entries, {1} damaged\n", entries->size(), damaged).str();
  int code = request.json() ? print(llvm::json::Object{{"entries", number(entries->size())},
                                                       {"damaged", std::move(array)}})
                            : writeOutput("", text);
  return code || damaged == 0 ? code : static_cast<int>(UserMistake);
}

static int removeDownTo(const Request &request, uint64_t limit) {
  Result<PruneReport> report = request.disk.prune(limit);
  if (!report)
    return failEnvironment(report.status().message());
  if (request.json())
    return print(llvm::json::Object{{"removed", number(report->entries)},
                                    {"removed_bytes", number(report->bytes)},
                                    {"leftovers", number(report->leftovers)},
                                    {"bytes", number(report->bytesLeft)}});
  return writeOutput("", llvm::formatv("removed {0} entries of {1} bytes and {2} leftovers; {3} "
                                       "bytes stay\n",
                                       report->entries, groupedText(number(report->bytes)),
                                       report->leftovers, groupedText(number(report->bytesLeft)))
                             .str());
}

static int prune(const Request &request) { return removeDownTo(request, request.limit); }

static int clear(const Request &request) { return removeDownTo(request, 0); }

static int showPath(const Request &request) {
  if (request.json())
    return print(llvm::json::Object{{"folder", llvm::json::fixUTF8(request.disk.folder())}});
  return writeOutput("", request.disk.folder() + "\n");
}

static const Action actions[] = {
    {"ls", list}, {"verify", verify}, {"prune", prune}, {"clear", clear}, {"path", showPath},
};

static int runCache(const Arguments &arguments) {
  llvm::StringRef name = arguments.positional(0);
  const Action *action = llvm::find_if(actions, [&](const Action &a) { return a.name == name; });
  if (action == std::end(actions)) {
    llvm::SmallVector<llvm::StringRef> names;
    for (const Action &known : actions)
      names.push_back(known.name);
    return failUsage(arguments.getCommand(),
                     "unknown action '" + name + "'" + didYouMean(name, names));
  }
  Result<Settings> settings = Settings::fromEnvironment();
  if (!settings)
    return fail(settings.status().message());
  CacheOptions options = CacheOptions::from(*settings);
  if (options.folder.empty())
    return failEnvironment(options.folderMissing
                               ? "neither LACUNA_CACHE_DIR, XDG_CACHE_HOME nor HOME says where the "
                                 "cache is"
                               : "nothing is kept on disk: LACUNA_CACHE_SIZE is 0");
  uint64_t limit = options.diskBytes;
  if (arguments.has("--size")) {
    std::optional<uint64_t> size = parseBytes(arguments.get("--size"));
    if (!size)
      return failUsage(arguments.getCommand(),
                       "option '--size' expects a number of bytes such as 512M or 2G, got '" +
                           arguments.get("--size") + "'");
    limit = *size;
  }
  DiskLayer disk(options.folder, options.diskBytes, nullptr);
  return action->run({arguments, disk, limit});
}

static const Option options[] = {
    {"--size", "BYTES", "with prune: what may stay (default: LACUNA_CACHE_SIZE), 512M for example"},
    {"--json", "", "print JSON"},
};

const Command cacheCommand = {
    .name = "cache",
    .summary = "list, check and remove what is kept between runs",
    .usage = "ls|verify|prune|clear|path [--size=BYTES] [--json]",
    .help =
        "Programs and machine code are kept below $LACUNA_CACHE_DIR, else $XDG_CACHE_HOME/lacuna,\n"
        "else ~/.cache/lacuna, up to LACUNA_CACHE_SIZE bytes (default: 2G); what was used\n"
        "longest ago goes first.\n\n"
        "  ls      entries, the one used last first\n"
        "  verify  read every entry; exit code 1 when one is damaged (a run makes it again)\n"
        "  prune   remove entries above the limit, and what killed processes left\n"
        "  clear   remove all entries\n"
        "  path    the folder\n",
    .options = options,
    .positionals = 1,
    .run = runCache,
};

} // namespace lacuna::tool
