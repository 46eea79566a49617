// tilusc run: a kernel on arrays from files, on the host, the simulator or a GPU.
#include <nlohmann/json.hpp>

#include "cli/cat.h"
#include "cli/devices.h"
#include "cli/kernel_arguments.h"
#include "cli/program_input.h"

namespace tilus::cli {
namespace {

struct RunOptions {
  std::string program;
  std::string kernel;
  std::string device = "host";
  std::vector<std::string> targets;
  std::vector<std::string> args;
  std::vector<std::string> outs;
};

// The kernel that --kernel names, or the only one.
Kernel KernelOf(const Executable& executable, const Module& module, const std::string& name) {
  if (name.empty() && tilus_module_kernel_count(module.get()) > 1) {
    std::string names;
    for (const std::string& kernel : KernelNames(module.get())) {
      names += Cat(names.empty() ? "" : ", ", kernel);
    }
    Fail(Exit::kInput, Id::kKernelChoice, "the program has several kernels",
         Cat("choose one of ", names, " with --kernel"));
  }
  return Make<Kernel>(tilus_executable_kernel, executable.get(), Text(name));
}

void PrintLaunch(const RunOptions& options, const Kernel& kernel, const tilus_launch_shape& shape,
                 const ArgumentSpecs& specs, const std::string& printed) {
  Json outputs = Json::object();
  for (const auto& [name, spec] : specs.outputs) outputs[name] = spec.file;
  PrintJson({{"kernel", View(tilus_kernel_name(kernel.get()))},
             {"device", options.device},
             {"grid", shape.grid},
             {"threads", shape.threads},
             {"shared_bytes", shape.shared_bytes},
             {"workspace_bytes", shape.workspace_bytes},
             {"outputs", std::move(outputs)},
             {"printed", printed}});
}

void RunKernel(const RunOptions& options, Tool& tool) {
  const ArgumentSpecs specs = ParseArgumentSpecs(options.args, options.outs);
  const DeviceName device_name = ParseDeviceName(options.device);
  const Session session(tool, tool.json ? Printed::kKept : Printed::kToStdout);
  const ProgramInput input = ReadProgramInput(session, options.program);
  const Module module = ModuleOf(session, input, OptionsFor(input, options.targets));
  const Device device = OpenDevice(session.context(), device_name);
  const Executable executable =
      Make<Executable>(tilus_module_load, module.get(), device.get());
  const Kernel kernel = KernelOf(executable, module, options.kernel);
  const KernelArguments arguments(kernel.get(), device.get(), specs);
  const std::vector<tilus_argument>& list = arguments.list();
  auto shape = Sized<tilus_launch_shape>();
  Check(tilus_kernel_shape(kernel.get(), list.data(), list.size(), &shape));
  Check(tilus_kernel_launch(kernel.get(), list.data(), list.size(), nullptr));
  Check(tilus_device_synchronize(device.get()));
  arguments.WriteOutputs();
  if (tool.json) PrintLaunch(options, kernel, shape, specs, session.printed());
}

}  // namespace

void AddRunCommand(CLI::App* parent, Tool* tool) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* app = AddCommand(
      parent, "run", "Run a kernel on arrays from .npy files",
      "  tilusc run twice.tilus --arg n=100 --arg x=@x.npy --out x=doubled.npy:f32:100\n"
      "  tilusc run matmul.tilus --kernel matmul --device simulate --arg m=16 --arg a=@a.npy "
      "--arg w=@w.npy --out c=c.npy:f16:16x1536\n"
      "bf16 travels as u2, 8-bit floats as u1, types that are not whole bytes as u1 arrays of\n"
      "their packed bytes.");
  app->add_option("P", options->program, "A program, text or protobuf, or a module; - for stdin")
      ->required();
  app->add_option("--kernel", options->kernel, "Which kernel, where there are several")
      ->option_text("NAME");
  app->add_option("--arg", options->args,
                  "A number, an array, or null for a pointer; repeat for each parameter")
      ->option_text("NAME=VALUE|@FILE.npy ...")
      ->allow_extra_args(false);
  app->add_option("--out", options->outs,
                  "Write what the kernel left in an array; it starts as 0, or as the --arg of the "
                  "same name")
      ->option_text("NAME=FILE.npy:TYPE:DIMS ...")
      ->allow_extra_args(false);
  app->add_option("--device", options->device, "host (default), simulate, cuda or cuda:N")
      ->option_text("DEVICE");
  AddTargetOption(app, &options->targets);
  RunWith(tool, app, options, RunKernel);
}

}  // namespace tilus::cli
