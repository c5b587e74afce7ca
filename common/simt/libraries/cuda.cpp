// libcuda.so.1: the functions are those of common/simt/driver, in the libcudart that this library needs.
