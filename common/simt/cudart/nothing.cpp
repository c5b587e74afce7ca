// What our libcudadevrt.a is made of: device code starts no kernels here.
