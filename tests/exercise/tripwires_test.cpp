// What is refused before it runs, and what is not. What the compiler makes of a file is played here; attacks_test.py
// has real ones.
#include "common/exercise/tripwires.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace halo;
using halo::test::contains;

namespace {

std::string refusal_of_text(const std::string& text) {
  CompiledFile file;
  file.name = "x.cu";
  file.text = text;
  return look_at(file).refusal;
}

// Tokens of the student's lines, behind a header's.
std::string refusal_of_tokens(const std::string& tokens, const std::string& included = {},
                              const std::string& flags = {}) {
  CompiledFile file;
  file.name = "x.cu";
  file.root = "/halo";
  file.toolkit = "/opt/cuda";
  file.preprocessed = "# 1 \"x.cu\"\n";
  if (!included.empty()) {
    file.preprocessed +=
        "# 1 \"" + included + "\" 1" + flags + "\nvoid simt_of_a_header() { asm(\"nop\"); }\n";
    file.preprocessed += "# 2 \"x.cu\" 2\n";
  }
  file.preprocessed += tokens + "\n";
  return look_at(file).refusal;
}

std::string refusal_of_symbol(const std::string& name, char kind, bool is_program = false) {
  CompiledFile file;
  file.symbols = name + " " + kind + " 0 0\n";
  file.is_program = is_program;
  return look_at(file).refusal;
}

}  // namespace

TEST_CASE("paths in directives are refused, however they are spelled") {
  for (const char* text : {"#include \"/etc/passwd\"", "  #  include </proc/self/maps>",
                           "#include \"../solutions/x.cu\"", "#inc\\\nlude \"/etc/passwd\"",
                           "/* a\n */ #include \"/etc/passwd\"", "%:include \"/etc/passwd\"",
                           "/**/ /* */#include \"/etc/passwd\"", "#include \"a/../b.h\"",
                           "#if __has_include(\"/srv/course/solutions\")"}) {
    INFO(text);
    CHECK_FALSE(refusal_of_text(text).empty());
  }
  CHECK_THAT(refusal_of_text("int a;\n\n#include \"/etc/passwd\"\n"), contains("line 3: "));
}

TEST_CASE("macros that put code into the lines of headers are refused") {
  for (const char* macro :
       {"#define abs(x) abs(x); void crash() { asm(\"nop\"); } int other(x)",
        "#define CUDARTAPI __attribute__((constructor))", "#define __THROW",
        "#define private public", "#define T U> void crash() { __asm(\"nop\"); } template <class T",
        "#define unused constructor", "#define made(x) con ## x", "#define made(x) con %:%: x",
        "#define/**/__THROW", "#define /* two", "#define abs(x) /* two",
        "#define N 4 /* */ asm(\"nop\") /* */", "#define text \"/*\" asm(\"nop\") \"*/\"",
        "#define inside simt", "#define abs(x) #x asm"}) {
    INFO(macro);
    CHECK_THAT(refusal_of_text(std::string(macro) + "\n#include <cstdlib>\n"), contains("macro"));
    CHECK(refusal_of_text("#include <cstdlib>\n" + std::string(macro) + "\n").empty());
  }
  const std::string long_one = "#define f(x) " + std::string(3000, ' ') + "asm\n";
  CHECK_THAT(refusal_of_text(long_one + "#include <cmath>"), contains("it is too long"));
}

TEST_CASE("macros that students put ahead of an #include are not refused") {
  for (const char* macro :
       {"#define N 1024", "#define tile (16)  // cells", "#define BLOCK (N / 4)",
        "#define _USE_MATH_DEFINES", "#define CHECK(x) if (x) { return 1; }",
        "#define ceil_div(a, b) (((a) + (b) - 1) / (b)) /* rounded up */",
        "#define clamped(i, n) ((i) < 0 ? 0 : (i) >= (n) ? (n) - 1 : (i))",
        "#define checked(call) do { cudaError_t e = (call); if (e) { return e; } } while (0)",
        "#define say(x) printf(#x \" is %d\\n\", x)",
        "#define aligned16 __attribute__((aligned(16)))", "#define restrict __restrict__",
        "#define value (4)"}) {
    INFO(macro);
    CHECK(refusal_of_text(std::string(macro) + "\n#include <cstdlib>\n") == "");
  }
}

TEST_CASE("the words of the exercise's own headers are no macro ahead of them") {
  CompiledFile file;
  file.name = "x.cu";
  file.root = HALO_SOURCE_ROOT;
  for (const char* macro : {"#define begin end", "#define begin", "#define begin(a, b) end(a)",
                            "#undef begin\n#define begin 0"}) {
    for (const char* include : {"\"common/exercise/counted.h\"", "<./common/exercise/counted.h>"}) {
      file.text = std::string(macro) + "\n#include " + include;
      INFO(file.text);
      CHECK_THAT(look_at(file).refusal, contains("own headers have this word"));
    }
    file.text = std::string(macro) + "\n#include COUNTED";
    CHECK_THAT(look_at(file).refusal, contains("own headers have this word"));
    file.text =
        "#include \"common/exercise/counted.h\"\n" + std::string(macro) + "\n#include <cmath>";
    CHECK(look_at(file).refusal == "");
  }
  // Of a comment there.
  file.text = "#define check(call) if (call) return 1\n#include \"common/exercise/exercise.h\"";
  CHECK(look_at(file).refusal == "");
}

TEST_CASE("lines that forge their places are refused") {
  for (const char* text : {"#line 7 \"common/exercise/exercise.h\"",
                           "# 1 \"/usr/include/stdio.h\" 1 3", "#/* */line 3", "*/ # 4 \"x\""}) {
    INFO(text);
    CHECK_THAT(refusal_of_text(text), contains("forges"));
  }
}

TEST_CASE("macros that change the headers behind them are refused") {
  for (const char* text :
       {"#define __THROW ; int mine()\n#include <fmtmsg.h>", "#undef __THROW\n#include <fmtmsg.h>",
        "#define _Complex\n#include <math.h>", "# define private public\n#include <vector>",
        "#define \\\n__THROW\n#include <fmtmsg.h>"}) {
    INFO(text);
    CHECK_THAT(refusal_of_text(text), contains("line 1: a macro that changes headers"));
  }
}

TEST_CASE("what students write in directives and comments is not refused") {
  for (const char* text :
       {"#include <vector>\n#define _N 3\n#define __tile 16",
        "#define _USE_MATH_DEFINES\n#define N 4\n#include <cmath>",
        "#include <cuda_runtime.h>\n#include \"common/exercise/exercise.h\"\n", "// see issue #1",
        "#define N 3 // ../ and /etc", "#pragma unroll", "x = a ? b : \"#line\";",
        "/* 1/2 of ../it */ int x;", "#if 0\n#endif\n#ifdef LINE\n#endif"}) {
    INFO(text);
    CHECK(refusal_of_text(text) == "");
  }
}

TEST_CASE("a file that is too large, or has a byte of 0, is refused") {
  CHECK_FALSE(refusal_of_text(std::string(2'000'000, ' ')).empty());
  CHECK_THAT(refusal_of_text(std::string("int a;\0", 7)), contains("save it as UTF-8"));
}

TEST_CASE("a carriage return hides no directive behind a comment") {
  for (const char* text : {"// a\r#line 1 \"stddef.h\"\n", "// a \\\r\r\n#line 1\n", "int a;\r"}) {
    INFO(text);
    CHECK_THAT(refusal_of_text(text), contains("carriage return"));
  }
  CHECK(refusal_of_text("// a\r\nint b;\r\n") == "");
  CHECK(refusal_of_text("#define _CRT_SECURE_NO_WARNINGS\n#include <a>") == "");
}

TEST_CASE("nobody hides behind so much that it is not looked at, or keeps the grader") {
  const std::string long_comment =
      "/*" + std::string(100'000, 'x') + "*/ # 1 \"/usr/include/a.h\" 1 3";
  CHECK_THAT(refusal_of_text(long_comment), contains("forges"));
  std::string brackets, commas;
  for (int i = 0; i < 200'000; ++i) brackets += "[ ";
  for (int i = 0; i < 1'100'000; ++i) commas += "1,";
  CHECK_THAT(refusal_of_tokens(brackets), contains("so many words"));
  CHECK_THAT(refusal_of_tokens(commas), contains("more than a million words"));
  CompiledFile file;
  for (int i = 0; i < 100'000; ++i) file.symbols += "_ZL6hidingv t 0 0\n";
  CHECK_THAT(look_at(file).refusal, contains("symbols"));
  file.symbols.clear();
  file.preprocessed.resize(kMostPreprocessed + 1, ' ');
  CHECK_THAT(look_at(file).refusal, contains("32 MiB"));
}

TEST_CASE("names and attributes that have no place in an exercise are refused by line") {
  for (const char* tokens : {"void f() { asm(\"syscall\"); }",
                             "__asm__ volatile (\"nop\");",
                             "__attribute__((constructor)) void f();",
                             "void f() __attribute__((__alias__(\"g\")));",
                             "int x __attribute__((section(\".init_array\")));",
                             "[[gnu::constructor]] void f();",
                             "<:<:gnu::constructor:>:> void f();",
                             "[<:gnu::weak:>] void f();",
                             "atexit(f);",
                             "__builtin_atexit(f);",
                             "int x = simt::counters;",
                             "::simt::report();",
                             "namespace halo { int x; }",
                             "halo::exercises::kSocket;",
                             "halo::counting::load(0);",
                             "using namespace halo::counting;",
                             "#pragma weak main",
                             "#pragma redefine_extname a b",
                             "#ident \"\\\"\\n.pushsection .init_array\"",
                             "#sccs \"x\""}) {
    INFO(tokens);
    CHECK_THAT(refusal_of_tokens(tokens), contains("line 1: "));
  }
  CHECK_THAT(refusal_of_tokens("int a;\nint b;\nasm(\"nop\");"), contains("line 3: asm"));
}

TEST_CASE("no literal hides what stands behind it") {
  for (const char* tokens :
       {"int n = 1'000; asm(\"nop\");", "int n = 0x1'F'2; asm(\"nop\");",
        "float x = .5'0f; asm(\"nop\");", "auto s = \"x\"_R\"(\"; asm(\"nop\"); auto t = \")\";",
        "auto c = 'x'_R; auto s = \"(\"; asm(\"nop\"); auto t = \")\";",
        "says(1'0_R\"(\"); asm(\"nop\"); says(\")\");", "says FOR\"(\"; asm(\"nop\"); says \")\";",
        "auto s = R\"x()\")x\"_R\"(\"; asm(\"nop\"); auto t = \")\";"}) {
    INFO(tokens);
    CHECK_THAT(refusal_of_tokens(tokens), contains("line 1: asm"));
  }
}

TEST_CASE("what students need is not refused") {
  for (const char* tokens :
       {"halo::Exercise halo::exercise() { return launch; }", "using namespace halo;",
        "int counting = 0; char c = '\"'; const char* s = \"asm\";",
        "const char* r = R\"(asm(\"nop\"))\";", "auto r = u8R\"x(asm(\"nop\"))x\"_text;",
        "int n = 1'000'000; auto c = L'\\''; auto s = u\"asm(\";", "#pragma unroll",
        "#pragma GCC diagnostic push", "__attribute__((aligned(16))) float4 x;"}) {
    INFO(tokens);
    CHECK(refusal_of_tokens(tokens) == "");
  }
}

TEST_CASE("only the exercise's and the system's headers are included") {
  CHECK(refusal_of_tokens("int a;", "/usr/include/stdio.h") == "");
  CHECK(refusal_of_tokens("int a;", "/halo/common/exercise/exercise.h") == "");
  CHECK(refusal_of_tokens("int a;", "/opt/cuda/bin/../include/cuda_runtime.h") == "");
  CHECK_THAT(refusal_of_tokens("int a;", "/halo/common/exercise/wire.hpp"), contains("wire.hpp"));
  CHECK_THAT(refusal_of_tokens("int a;", "/halo/common/simt/simt.hpp"), contains("not a header"));
  CHECK_THAT(refusal_of_tokens("int a;", "/usr/../halo/solutions/a.cu"), contains("not a header"));
  CHECK_THAT(refusal_of_tokens("int a;", "x.cu"), contains("includes itself"));
  CHECK_THAT(refusal_of_tokens("int a;", "tile.cuh"), contains("only this file is handed in"));
  // Found by the compiler among its own, wherever these are.
  CHECK(refusal_of_tokens("int a;", "/opt/gcc/include/c++/12/vector", " 3") == "");
  CHECK_THAT(refusal_of_tokens("int a;", "/opt/gcc/secret"), contains("not a header"));
  // A toolkit round the course, and one within it.
  CompiledFile file;
  file.name = "x.cu";
  file.preprocessed = "# 1 \"x.cu\"\n# 1 \"/home/halo/bin/a.h\" 1\n";
  file.toolkit = "/home";
  file.root = "/home/halo";
  CHECK_THAT(look_at(file).refusal, contains("not a header"));
  file.toolkit = "/home/halo/bin";
  CHECK(look_at(file).refusal == "");
}

TEST_CASE("functions that do more than compute and print are refused") {
  for (const char* name : {"fork", "dlsym", "syscall", "mmap", "ptrace", "system", "_exit",
                           "getenv", "open", "socket", "pthread_create", "signal", "longjmp",
                           "usleep", "nobody_knows_it", "_ZNSt6thread6_StateD2Ev", "write",
                           "_ZN4halo9exercises4sendEiRKNS0_6AnswerE", "__open64_2"}) {
    INFO(name);
    CHECK_FALSE(refusal_of_symbol(name, 'U').empty());
  }
  for (const char* name : {"printf", "__printf_chk", "memcpy", "cudaMalloc", "expf", "fmaf",
                           "__cudaRegisterFatBinary", "_Znwm", "atexit", "exit", "sched_yield",
                           "_ZSt20__throw_length_errorPKc", "_ZN4halo8counting4loadEPKv"}) {
    INFO(name);
    CHECK(refusal_of_symbol(name, 'U') == "");
  }
}

TEST_CASE("any may end itself, as what looks at errors does; the judge believes no status") {
  CompiledFile file;
  file.name = "x.cu";
  file.preprocessed = "# 1 \"x.cu\"\nvoid check(int error) { if (error != 0) exit(1); }\n";
  CHECK(look_at(file).refusal == "");
}

TEST_CASE("a whole program may open files, and nothing else") {
  for (const char* name : {"fopen", "fclose"}) {
    INFO(name);
    CHECK_FALSE(refusal_of_symbol(name, 'U').empty());
    CHECK(refusal_of_symbol(name, 'U', true) == "");
  }
  CHECK_THAT(refusal_of_symbol("fclose", 'U'), contains("reads or writes files"));
  CHECK_THAT(refusal_of_symbol("dlclose", 'U'), contains("loads other code"));
  CHECK_FALSE(refusal_of_symbol("fork", 'U', true).empty());
  CHECK_FALSE(refusal_of_symbol("_exit", 'U', true).empty());
  CHECK(refusal_of_symbol("main", 'T', true) == "");
}

TEST_CASE("what others would take for their own is refused") {
  for (const char* name :
       {"main", "cudaMalloc", "malloc", "_Znwm", "_ZdlPv", "_ZN4halo9exercises5serveEv", "puts"}) {
    INFO(name);
    CHECK_FALSE(refusal_of_symbol(name, 'T').empty());
  }
  for (const char* name : {"_ZN4halo8exerciseEv", "_Z6kernelPKfPfi", "my_c_function"}) {
    INFO(name);
    CHECK(refusal_of_symbol(name, 'T') == "");
  }
  // What `inline extern "C"` makes of such a name is taken in the place of the worker's own too.
  for (const char* name :
       {"_ZN4halo8counting5beginEPff", "_ZN4halo9exercises10HostArrays6finishEv",
        "_ZNK4halo9exercises6ServedE", "_ZN4simt9simulatorEv", "_ZN4haloeqERKNS_7CountedES2_"}) {
    CAPTURE(name);
    for (const char kind : {'T', 'W', 'V', 'u', 'B'}) {
      CHECK_FALSE(refusal_of_symbol(name, kind).empty());
    }
  }
  for (const char* name :
       {"_ZN4halo8ExerciseC1IJPKfPfiiEEEPFiDpT_E", "_ZNK4halo8ExerciseclERKNS_17ExerciseArgumentsE",
        "_ZN4halo7CountedC2Ef", "_ZN4halomlERKNS_7CountedES2_"}) {
    CAPTURE(name);
    CHECK(refusal_of_symbol(name, 'W') == "");
  }
  for (const char* name : {"table", "_count"}) {
    CAPTURE(name);
    CHECK(refusal_of_symbol(name, 'B') == "");
  }
  for (const char* name : {"__count", "_environ", "environ"}) {
    CAPTURE(name);
    CHECK_FALSE(refusal_of_symbol(name, 'B').empty());
  }
  CHECK(refusal_of_symbol("_ZNSt6vectorIfSaIfEE9push_backEOf", 'W') == "");
}

TEST_CASE(
    "who prints by streams is not said to run code before the first call, whose globals do is") {
  CompiledFile file;
  file.name = "x.cu";
  const auto remarks = [&](const std::string& symbols) {
    file.symbols = symbols;
    return look_at(file).remarks.size();
  };
  CHECK(remarks("_GLOBAL__sub_I__Z1fv t 70 27\n_ZStL8__ioinit b 20 1\n") == 0);
  CHECK(remarks("_GLOBAL__sub_I__Z1fv t 70 33\n_ZStL8__ioinit b 28 1\n") == 1);
  CHECK(remarks("_GLOBAL__sub_I__Z1fv t 70 14\n") == 1);
}
