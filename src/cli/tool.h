// The command line: what every command shares, and the functions that add each command.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "cli/output.h"

namespace tilus::cli {

struct Tool {
  bool json = false;
  Findings findings;
  std::function<void()> run;  // of the command that the command line names
};

// A command under `parent`. `examples` are whole lines, shown at the end of its help.
CLI::App* AddCommand(CLI::App* parent, const std::string& name, const std::string& description,
                     const std::string& examples);

// Lets `run(*options)` be what the tool does when the command line names `app`.
template <typename Options>
void RunWith(Tool* tool, CLI::App* app, std::shared_ptr<Options> options,
             void (*run)(const Options&, Tool&)) {
  app->add_flag("--json", tool->json, "Answer as JSON, and findings on stderr as a JSON array");
  app->callback([=] { tool->run = [=] { run(*options, *tool); }; });
}

// A whole text as a decimal number: "12", "-3". Throws Exit::kUsage that names `what`.
int64_t ParseInteger(std::string_view text, const std::string& what);
// "16x8" or "16,8": numbers between `separator`.
std::vector<int64_t> ParseIntegers(std::string_view text, char separator, const std::string& what);

void AddCompileCommand(CLI::App* parent, Tool* tool);
void AddProgramCommands(CLI::App* parent, Tool* tool);  // verify, print
void AddRunCommand(CLI::App* parent, Tool* tool);
void AddLayoutCommands(CLI::App* layout, Tool* tool);  // show, divide, compose, equal, draw
void AddViewCommand(CLI::App* layout, Tool* tool);
void AddConflictsCommand(CLI::App* layout, Tool* tool);
void AddTypeCommands(CLI::App* type, Tool* tool);  // codes, encode, list
void AddPackCommands(CLI::App* parent, Tool* tool);  // pack, unpack
void AddBenchCommands(CLI::App* bench, Tool* tool);  // compile
void AddDisasmCommand(CLI::App* parent, Tool* tool);
void AddInventoryCommands(CLI::App* parent, Tool* tool);  // targets, devices

}  // namespace tilus::cli
