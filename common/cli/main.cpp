// The program that runs stages. A newcomer waits for it. No header: this is compiled at once.
namespace halo {
int run_main(int argc, char** argv);
}

int main(int argc, char** argv) { return halo::run_main(argc, argv); }
