// The subcommands of `simt`. Each takes the words after its name, the last of them null, and returns an exit status;
// what it throws, main tells in one line and ends with 2.
#pragma once

namespace simt::command {

/// Good, a check that failed, wrong use, findings that fail a run, and results that could not be written.
inline constexpr int kGood = 0, kFailed = 1, kWrongUse = 2, kFindings = 3, kNotWritten = 74;

/// `simt run [--fail-on WORDS] [--suppressions FILE] PROGRAM [ARGUMENT...]`: a program of simcc, or of nvcc -cudart shared, in the simulator. Becomes that program.
int run(char** words);

/// `simt debug [--dap] PROGRAM [ARGUMENT...]`: one of simcc -G, whose kernels are stopped and stepped at this terminal, or
/// by an editor that has started this command. Its status is the program's.
int debug(char** words);

/// `simt ptx FILE...`: what is in files of PTX: kernels, what each needs, and the forms of instructions they are made of.
int ptx(char** words);

/// `simt findings [--format text|github] [--sarif FILE] [--junit FILE] [--fail-on WORDS] REPORT...`: what the reports of many
/// programs say, each finding once.
int findings(char** words);

/// `simt suite FOLDER TABLE [OPTION...]`: compiles and runs the programs of the folder that the table names, and compares what
/// is found with what it expects. 1: something differs.
int suite(char** words);

}  // namespace simt::command
