"""The manual page and the completion for bash: both are made of --help, and miss nothing of it."""

import re
import shutil
import subprocess

import tilusc
from tilusc import SOURCE, TILUSC, TestCase, run
from usage_test import COMMANDS


def manual():
    return subprocess.run([SOURCE / "packaging/tilusc_man.sh", TILUSC], check=True,
                          capture_output=True, text=True).stdout


def options(command):
    """The long options of a command, as its help lists them."""
    return set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", run(*command.split(), "--help").text, re.M))


class Manual(TestCase):
    def test_every_command_has_a_section_with_its_options(self):
        sections = dict(re.findall(r"^\.SS tilusc ([a-z ]+)\n(.*?)(?=^\.S[SH] )", manual(),
                                   re.M | re.S))
        self.assertEqual(set(sections), set(COMMANDS))
        for command, section in sections.items():
            written = section.replace("\\-", "-")
            for option in options(command):
                self.assertRegex(written, rf"(?m)^\.B .*{option}\b", command)
            self.assertIn(f"\n  tilusc {command}", written)

    @tilusc.unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_the_page_formats_without_warnings(self):
        page = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=manual(), text=True,
                              capture_output=True, check=True)
        self.assertEqual(page.stderr, "")
        self.assertIn("when set, terminals get no colours", page.stdout)


class Completion(TestCase):
    def complete(self, *words):
        script = (f"source {SOURCE}/packaging/completions/tilusc.bash\n"
                  'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tilusc\n'
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        return subprocess.run(["bash", "-c", script, "bash", TILUSC, *words], check=True,
                              capture_output=True, text=True).stdout.split()

    def test_commands_options_and_values(self):
        self.assertEqual(set(self.complete("")) - {"-h", "--help", "--version"},
                         {command.split()[0] for command in COMMANDS})
        self.assertEqual(self.complete("layout", "di"), ["divide"])
        self.assertEqual(self.complete("layout", "view", "--b"), ["--bits"])
        self.assertEqual(self.complete("compile", "x.tilus", "--tar"), ["--target"])
        self.assertIn("sm_90a", self.complete("compile", "x.tilus", "--target", "sm_"))
        self.assertEqual(self.complete("type", "codes", "f6e3"), ["f6e3m2"])
        self.assertEqual(self.complete("run", "x.tilus", "--device", "sim"), ["simulate"])


if __name__ == "__main__":
    tilusc.main()
