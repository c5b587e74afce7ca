// main() of every test program that has none of its own.
namespace halo::test {
int run_cases(int argc, char** argv);
}

int main(int argc, char** argv) { return halo::test::run_cases(argc, argv); }
